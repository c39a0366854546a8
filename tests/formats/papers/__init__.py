"""Tests of arqlab.formats.papers."""
