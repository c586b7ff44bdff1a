"""Functions that add nodes to a graph, by family."""
