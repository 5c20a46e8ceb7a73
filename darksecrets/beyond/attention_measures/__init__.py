"""Alternative attention measures: the analyses of heads by norms and by effective attention."""
