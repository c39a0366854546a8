"""What changes people, labs, tasks and topics."""
