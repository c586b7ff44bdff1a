"""Graphs, nodes, types, shapes, messages and errors: the base of all other folders."""
