"""One module for each performance claim; docs/benchmarks.md lists them."""
