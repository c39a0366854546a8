"""What is read of collections, their posts and formulas."""
