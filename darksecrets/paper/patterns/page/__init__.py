"""The labelling page: a local web page that shows one map after another and saves its label."""
