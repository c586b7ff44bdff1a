"""tf.autograph: conversion of Python functions to graphs."""
from weft._core.autograph.api import set_verbosity, to_code, to_graph, trace
from weft._core.public import publish as _publish
from weft.autograph import experimental

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
__getattr__ = _publish(__name__)
