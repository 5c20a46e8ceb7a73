"""The first page of the report, and what it says of how a run was made."""
