"""google: an empty package that contains protobuf."""
