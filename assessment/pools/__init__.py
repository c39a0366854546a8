"""Pools: plan, freeze, supplement, close."""
