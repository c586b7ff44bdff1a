"""The errors of tf.flags."""


class Error(Exception):
    """What is wrong with flags."""


class IllegalFlagValueError(Error):
    """A value that a flag does not take."""


class DuplicateFlagError(Error):
    """A flag that is defined twice."""


class UnrecognizedFlagError(Error):
    """A flag that nobody defined."""

    def __init__(self, flagname, flagvalue="", suggestions=()):
        super().__init__("Unknown command line flag '%s'%s" % (
            flagname, ". Did you mean: %s ?" % ", ".join(suggestions) if suggestions else ""))
        self.flagname, self.flagvalue = flagname, flagvalue


class UnparsedFlagAccessError(Error):
    """A flag that is read before the command line."""


class CantOpenFlagFileError(Error):
    """A flag file that cannot be read."""


class FlagNameConflictsWithMethodError(Error):
    """A flag that is named like a method of FLAGS."""


class ValidationError(Error):
    """A value that a validator refuses."""
