"""Shared by all packages: tables, files, provenance, resuming, GPUs, progress, errors."""
