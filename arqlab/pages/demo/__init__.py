"""The demo lab: a small lab of undergraduate mathematics, written for ArqLab, and the systems whose
runs take part in it.
"""
