"""The environment of a program: flags, logging, tests and profiling."""
