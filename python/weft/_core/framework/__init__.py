"""Graphs, nodes, types, shapes, messages and errors: what everything else is built of."""
