"""The labelling page: a local web page that shows one map after the other and takes a label."""
