"""Parts of the page of an inspection."""
