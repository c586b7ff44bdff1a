"""Files: records, event files, SavedModels and file systems."""
