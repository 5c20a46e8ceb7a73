"""The sections of the paper; none imports another: they meet in tables on disk."""
