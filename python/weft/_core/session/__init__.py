"""Sessions, and the servers on which they run."""
