"""Shared by all packages: tables, files, records, resuming, GPUs, progress, errors."""
