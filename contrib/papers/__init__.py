"""The overview paper of a lab: kits of tables and figures, and sentences."""
