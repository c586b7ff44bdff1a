"""Functions that add nodes to a graph, grouped by subject."""
