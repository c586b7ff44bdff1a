"""google: a folder of names."""
