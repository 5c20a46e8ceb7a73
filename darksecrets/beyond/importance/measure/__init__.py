"""Passes over a model that say how much a task needs each head and MLP."""
