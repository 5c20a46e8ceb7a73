"""Style and scripts of the atlas's page; `darksecrets.atlas.html` puts them together."""
