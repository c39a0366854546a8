"""Labs that benchmarks measure. Import them after Django is set up."""
