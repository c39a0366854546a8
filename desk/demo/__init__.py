"""The demo lab: a small lab of undergraduate mathematics, and the systems that produce its runs."""
