"""absl.flags: tf.flags, which read flags as absl does."""
from weft._core.platform.flag_parsers import *  # noqa: F403
from weft._core.platform.flags import *  # noqa: F403
from weft._core.platform.flags import FLAGS, FlagValues  # noqa: F401
