"""Statistics of arrays: resampling, tests, corrections, agreement, controls.

Functions take arrays and weights, never tasks, sweeps or tables. They return fractions, not
percentages; tables multiply by 100 when they are built.
"""

LEVEL = 0.05
"""Significance level of tests; intervals cover 1 - LEVEL, with LEVEL / 2 beyond each end."""
