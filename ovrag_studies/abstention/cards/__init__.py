"""Cards: made from a graph, read from files, looked at for shortcuts."""
