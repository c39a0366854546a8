"""What people fill in about pools, judging and qrels."""
