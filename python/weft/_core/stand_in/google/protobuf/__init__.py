"""google.protobuf: text and JSON of TensorFlow's messages."""
__version__ = "3.20.0"
