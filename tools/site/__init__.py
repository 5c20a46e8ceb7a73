"""The pages of `docs/` as a site: what is generated for it, and how its links are adapted."""
