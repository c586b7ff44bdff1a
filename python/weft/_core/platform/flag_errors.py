"""The errors of tf.flags."""


class Error(Exception):
    """The base of errors about flags."""


class IllegalFlagValueError(Error):
    """The error for a value that a flag does not accept."""


class DuplicateFlagError(Error):
    """The error for a flag that is defined twice."""


class UnrecognizedFlagError(Error):
    """The error for a flag that is not defined."""

    def __init__(self, flagname, flagvalue="", suggestions=()):
        super().__init__("Unknown command line flag '%s'%s" % (
            flagname, ". Did you mean: %s ?" % ", ".join(suggestions) if suggestions else ""))
        self.flagname, self.flagvalue = flagname, flagvalue


class UnparsedFlagAccessError(Error):
    """The error for a flag that is read before the command line is parsed."""


class CantOpenFlagFileError(Error):
    """The error for a flag file that cannot be read."""


class FlagNameConflictsWithMethodError(Error):
    """The error for a flag with the name of a method of FLAGS."""


class ValidationError(Error):
    """The error for a value that a validator refuses."""
