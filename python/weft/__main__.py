"""python -m weft [--python2] SCRIPT.py ARGUMENTS: runs a TensorFlow 1 program as it stands."""
import os
import sys


def main(argv):
    python2 = False
    while argv and argv[0].startswith("--"):
        option = argv.pop(0)
        if option == "--python2":
            python2 = True
        elif option == "--names":
            import weft
            print("\n".join(sorted(n for n in dir(weft) if not n.startswith("_"))))
            return 0
        elif option in ("--help", "-h"):
            print(__doc__)
            return 0
        else:
            print("weft run: unknown option '%s' before the script" % option, file=sys.stderr)
            return 2
    if not argv:
        print("weft run: which script?\n%s" % __doc__, file=sys.stderr)
        return 2
    from weft._core.run.runner import run
    try:
        run(argv[0], argv[1:], python2)
    except FileNotFoundError as e:
        if e.filename not in (argv[0], os.path.abspath(argv[0])):
            raise
        print("weft run: there is no file '%s'" % argv[0], file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
