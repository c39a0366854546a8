"""Services that change people, labs, tasks and topics."""
