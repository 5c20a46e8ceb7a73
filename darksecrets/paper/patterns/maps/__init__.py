"""Labelled maps: how they are drawn, labelled, read and compared."""
