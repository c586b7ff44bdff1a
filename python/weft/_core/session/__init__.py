"""Sessions, and the servers that they run on."""
