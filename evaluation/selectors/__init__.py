"""What is read about scores and leaderboards."""
