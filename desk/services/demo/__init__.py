"""The demo lab: its construction, and simulated runs, judgments, qrels and leaderboards."""
