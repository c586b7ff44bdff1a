"""Modules of tensorflow.python that programs import and that have no public namespace; run/modules.py says which is which."""
