"""Small parts of packages that TensorFlow 1 programs import: used where the packages are not installed."""
