"""The radar: judgments to talk about with an assessor."""
