"""Pages of notices, messages, invitations and texts."""
