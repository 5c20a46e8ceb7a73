"""Statistics of arrays: resampling, tests, corrections, agreement, controls.

Functions here take arrays and weights, never tasks, sweeps or tables, and return shares, not
percentages: tables multiply by 100 at their edge.
"""

LEVEL = 0.05
"""Significance level of tests; intervals cover 1 - LEVEL, half of LEVEL beyond either end."""
