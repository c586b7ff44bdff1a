"""The program around a graph: flags, the log, tests."""
