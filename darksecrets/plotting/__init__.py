"""What figures share: style, head grids, panels."""
