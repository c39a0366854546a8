"""What the paper of a lab prints."""
