"""The run on real data that the pages show: its tables, and what is made from them."""
