"""Pools: the items assessors judge, and the plan of a pool before it is frozen."""
