"""Style and scripts of the atlas's page; `darksecrets.pages.atlas.html` puts them together."""
