"""Tests of the comparison of runs."""
