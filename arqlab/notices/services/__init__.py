"""Changes of notices, messages, invitations and texts, and the sending of mail."""
