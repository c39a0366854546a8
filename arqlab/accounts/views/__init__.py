"""The pages about people, labs, tasks and topics."""
