"""The figures of the paper: functions from a tidy table to a matplotlib figure, without torch."""
