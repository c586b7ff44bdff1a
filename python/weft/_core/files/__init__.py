"""Record files, event files, SavedModels and file systems."""
