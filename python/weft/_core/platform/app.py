"""tf.app.run: parses flags, and calls main with the rest of the command line."""
import sys

from weft._core.platform import flags


def run(main=None, argv=None):
    given = sys.argv if argv is None else argv
    try:
        rest = flags.FLAGS([given[0]] + list(given[1:]), known_only=True)
    except flags.Error as e:
        print("FATAL Flags parsing error: %s" % e, file=sys.stderr)
        print("Pass --helpshort or --helpfull to see help on flags.", file=sys.stderr)
        sys.exit(1)
    if main is None:
        main = sys.modules["__main__"].main
    sys.exit(main(rest))
