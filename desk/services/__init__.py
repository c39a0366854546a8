"""Services of the pages app: the demo lab."""
