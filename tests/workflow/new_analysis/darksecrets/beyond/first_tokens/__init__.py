"""How much heads attend to the first token."""
