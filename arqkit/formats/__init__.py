"""Readers and writers of the files that labs, teams and publishers exchange. Pure: no Django."""
