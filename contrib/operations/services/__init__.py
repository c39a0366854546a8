"""Services for the operator of a server."""
