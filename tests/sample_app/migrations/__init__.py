"""The table of greetings."""
