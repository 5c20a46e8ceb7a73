"""What every part of a run needs: configuration, provenance, files, resuming, progress, errors."""
