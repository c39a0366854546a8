"""The pages of leaderboards and run scores."""
