"""Analyses beyond the paper: each is a package with an entry, which `analyses` finds."""
