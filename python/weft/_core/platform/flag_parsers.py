"""The parsers and serializers of tf.flags, which convert the text of a flag to its value and back.

A program passes them to tf.flags.DEFINE, or derives its own from ArgumentParser and ArgumentSerializer.
"""
import collections
import csv
import enum
import io
import os
import re
import shutil
import sys
import textwrap

from weft._core.framework.absent import Named


class ArgumentParser(metaclass=Named):
    """Reads a flag whose value is text; other parsers derive from it."""

    syntactic_help = ""

    def parse(self, argument):
        """Returns the value of a text."""
        if not isinstance(argument, str):
            raise TypeError('flag value must be a string, found "%s"' % type(argument))
        return argument

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "string"


class ArgumentSerializer(metaclass=Named):
    """Writes a value as str() does."""

    def serialize(self, value):
        """Returns the text of a value."""
        return str(value)


class _NumberParser(ArgumentParser):
    """The base of parsers of numbers with bounds."""

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        self.syntactic_help = self._help(lower_bound, upper_bound)

    def _help(self, lower, upper):
        name, article = self.number_name, self.number_article
        if lower is not None and upper is not None:
            return "%s %s in the range [%s, %s]" % (article, name, lower, upper)
        if lower is None and upper is None:
            return "%s %s" % (article, name)
        whole = name == "integer"
        if upper is None and (lower == 0 or (lower == 1 and whole)):
            return "a %s %s" % ("non-negative" if lower == 0 else "positive", name)
        if lower is None and (upper == 0 or (upper == -1 and whole)):
            return "a %s %s" % ("non-positive" if upper == 0 else "negative", name)
        return "%s %s %s" % (name, "<=" if lower is None else ">=", upper if lower is None else lower)

    def is_outside_bounds(self, val):
        """Returns whether a number is not between the bounds."""
        return (self.lower_bound is not None and val < self.lower_bound) or \
            (self.upper_bound is not None and val > self.upper_bound)

    def parse(self, argument):
        """Returns the number of a text."""
        made = self.convert(argument)
        if self.is_outside_bounds(made):
            raise ValueError("%s is not %s" % (made, self.syntactic_help))
        return made


class FloatParser(_NumberParser):
    """Reads a number, between the bounds if there are any."""

    number_article, number_name = "a", "number"

    def __init__(self, lower_bound=None, upper_bound=None):
        super().__init__(lower_bound, upper_bound)

    def convert(self, argument):
        """Returns the number of a text, whatever the bounds."""
        if isinstance(argument, bool) or not isinstance(argument, (str, int, float)):
            raise TypeError("Expect argument to be a string, int, or float, found %s" % type(argument))
        return float(argument)

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "float"


class IntegerParser(_NumberParser):
    """Reads an integer, between the bounds if there are any."""

    number_article, number_name = "an", "integer"

    def __init__(self, lower_bound=None, upper_bound=None):
        super().__init__(lower_bound, upper_bound)

    def convert(self, argument):
        """Returns the integer of a text, whatever the bounds."""
        if isinstance(argument, str):
            return int(argument, {"0x": 16, "0o": 8}.get(argument[:2], 10))
        if isinstance(argument, bool) or not isinstance(argument, int):
            raise TypeError("Expect argument to be a string or int, found %s" % type(argument))
        return argument

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "int"


class BooleanParser(ArgumentParser):
    """Parses true, t, 1 and false, f, 0."""

    def parse(self, argument):
        """Returns the truth of a text, or of 0 or 1."""
        if isinstance(argument, str):
            if argument.lower() in ("true", "t", "1"):
                return True
            if argument.lower() in ("false", "f", "0"):
                return False
            raise ValueError("Non-boolean argument to boolean flag", argument)
        if isinstance(argument, int):
            if argument in (0, 1):
                return bool(argument)
            raise ValueError("Non-boolean argument to boolean flag", argument)
        raise TypeError("Non-boolean argument to boolean flag", argument)

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "bool"


class EnumParser(ArgumentParser):
    """Parses one of several allowed texts."""

    def __init__(self, enum_values, case_sensitive=True):
        if not enum_values:
            raise ValueError('enum_values cannot be empty, found "%s"' % (enum_values,))
        if isinstance(enum_values, str):
            raise ValueError('enum_values cannot be a str, found "%s"' % enum_values)
        self.enum_values, self.case_sensitive = list(enum_values), case_sensitive

    def parse(self, argument):
        """Returns the one of the texts that the argument is."""
        for value in self.enum_values:
            if argument == value or (not self.case_sensitive and argument.upper() == value.upper()):
                return value
        raise ValueError("value should be one of <%s>" % "|".join(self.enum_values))

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "string enum"


class EnumClassParser(ArgumentParser):
    """Reads the name of a member of an enum."""

    def __init__(self, enum_class, case_sensitive=True):
        if not issubclass(enum_class, enum.Enum):
            raise TypeError("%s is not a subclass of Enum." % (enum_class,))
        if not enum_class.__members__:
            raise ValueError('enum_class cannot be empty, but "%s" is empty.' % (enum_class,))
        names = [name if case_sensitive else name.lower() for name in enum_class.__members__]
        twice = {name for name, count in collections.Counter(names).items() if count > 1}
        if twice:
            raise ValueError("Duplicate enum values for %s using case_sensitive=False" % (twice,))
        self.enum_class, self._case_sensitive, self._names = enum_class, case_sensitive, names

    @property
    def member_names(self):
        """The names that may be given."""
        return tuple(self._names)

    def parse(self, argument):
        """Returns the member of that name; a member is returned unchanged."""
        if isinstance(argument, self.enum_class):
            return argument
        text = argument if self._case_sensitive else argument.lower()
        if text not in self._names:
            raise ValueError("value should be one of <%s>" % "|".join(self._names))
        return list(self.enum_class.__members__.values())[self._names.index(text)]

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "enum class"


class BaseListParser(ArgumentParser):
    """Parses a list of texts with a separator between them."""

    def __init__(self, token=None, name=None):
        assert name
        self._token, self._name = token, name
        self.syntactic_help = "a %s separated list" % name

    def parse(self, argument):
        """Returns the texts; a list is returned unchanged."""
        if isinstance(argument, (list, tuple)):
            return list(argument)
        return [part.strip() for part in argument.split(self._token)] if argument else []

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "%s separated list of strings" % self._name


class ListParser(BaseListParser):
    """Parses a list of texts with commas between them. A comma in quotes does not separate."""

    def __init__(self):
        super().__init__(",", "comma")

    def parse(self, argument):
        """Returns the texts; a list is returned unchanged."""
        if isinstance(argument, (list, tuple)):
            return list(argument)
        if not argument:
            return []
        try:
            return [part.strip() for part in next(csv.reader([argument], strict=True))]
        except csv.Error as e:
            raise ValueError("Unable to parse the value %r as a %s: %s" % (argument, self.flag_type(), e)) from None


class WhitespaceSeparatedListParser(BaseListParser):
    """Parses a list of texts with spaces between them; with comma_compat, commas separate them, too."""

    def __init__(self, comma_compat=False):
        self._comma_compat = comma_compat
        super().__init__(None, "whitespace or comma" if comma_compat else "whitespace")

    def parse(self, argument):
        """Returns the texts; a list is returned unchanged."""
        if isinstance(argument, (list, tuple)):
            return list(argument)
        return (argument.replace(",", " ") if self._comma_compat else argument).split()


class ListSerializer(ArgumentSerializer):
    """Writes a list with a separator between its values."""

    def __init__(self, list_sep):
        self.list_sep = list_sep

    def serialize(self, value):
        """Returns the text of a list."""
        return self.list_sep.join(str(v) for v in value)


class CsvListSerializer(ListSerializer):
    """Writes a list as a line of a CSV file."""

    def serialize(self, value):
        """Returns the text of a list."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.list_sep).writerow([str(v) for v in value])
        return out.getvalue().strip()


class EnumClassSerializer(ArgumentSerializer):
    """Writes the name of a member of an enum."""

    def __init__(self, lowercase):
        self._lowercase = lowercase

    def serialize(self, value):
        """Returns the name of a member."""
        return value.name.lower() if self._lowercase else value.name


class EnumClassListSerializer(ListSerializer):
    """Writes the names of members of an enum with a separator between them."""

    def __init__(self, list_sep, **kwargs):
        super().__init__(list_sep)
        self._element_serializer = EnumClassSerializer(**kwargs)

    def serialize(self, value):
        """Returns the names of one member or of several."""
        members = value if isinstance(value, list) else [value]
        return self.list_sep.join(self._element_serializer.serialize(m) for m in members)


# ---- help texts ----

def get_help_width():
    """Returns the width of the terminal, in which help is shown; 80 where there is none."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return 80
    columns = shutil.get_terminal_size().columns
    return columns if columns >= 40 else int(os.environ.get("COLUMNS", 80))


def text_wrap(text, length=None, indent="", firstline_indent=None):
    """Returns a text in lines of at most `length` characters, each behind the indent."""
    length = get_help_width() if length is None else length
    indent = "" if indent is None else indent
    first = indent if firstline_indent is None else firstline_indent
    if len(indent) >= length:
        raise ValueError("Length of indent exceeds length")
    if len(first) >= length:
        raise ValueError("Length of first line indent exceeds length")
    lines = []
    for paragraph in (p.strip() for p in text.expandtabs(4).splitlines()):
        lines += textwrap.wrap(paragraph, length, initial_indent=indent if lines else first,
                               subsequent_indent=indent) or [""]
    return "\n".join(lines)


def doc_to_help(doc):
    """Returns a docstring as the text of help: the lines of a paragraph become one."""
    doc = doc.strip()
    doc = re.sub(r"^[ \t]+$", "", doc, flags=re.M)
    head, _, rest = doc.partition("\n")
    text = "%s\n%s" % (head, textwrap.dedent(rest))
    return re.sub(r"(?<=\S)\n(?=\S)", " ", text).strip()


def print_usage(flags, asked):
    """Prints the text of --help: the program's docstring, with %s replaced by the program's name, and its flags."""
    doc = getattr(sys.modules.get("__main__"), "__doc__", None)
    if doc:
        count = doc.count("%") - 2 * doc.count("%%")
        try:
            doc %= (sys.argv[0],) * count
        except (TypeError, ValueError, OverflowError):
            pass
    else:
        doc = text_wrap("\nUSAGE: %s [flags]\n" % sys.argv[0], indent="       ", firstline_indent="")
    print(doc)
    print("flags:")
    print(flags.get_help() if asked == "helpfull" else flags.main_module_help())
    if asked != "helpfull":
        print("\nTry --helpfull to get a list of all flags.")
