"""Services of assignments: who judges which topics, and which topics are set aside."""
