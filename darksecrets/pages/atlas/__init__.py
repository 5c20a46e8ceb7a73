"""The atlas of heads: one page that shows a run, made from its tables and attention stores."""
