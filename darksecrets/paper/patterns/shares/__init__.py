"""What a run's maps are: shares of patterns with intervals, and heads that keep theirs."""
