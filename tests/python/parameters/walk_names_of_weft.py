"""`tf` as a program under `weft run` sees it."""
from names_of_weft import load  # noqa: F401
