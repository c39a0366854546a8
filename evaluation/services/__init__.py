"""What writes scores and releases leaderboards."""
