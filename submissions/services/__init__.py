"""What changes runs: every rule and every change of state, whichever door asks for it."""
