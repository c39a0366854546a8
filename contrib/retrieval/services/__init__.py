"""Systems, their indexes, and the baselines that they make."""
