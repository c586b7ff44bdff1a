"""tf.flags: flags of a program, parsed as absl does when one is first read.

Both spellings (--name value, --name=value, one dash or two) are understood; --flag and --noflag set booleans.  Unlike
absl, `--flag false` sets a boolean to false, as TensorFlow before 1.5 did.
"""
import collections.abc
import functools
import os
import re
import sys
import warnings

from weft._core.framework.absent import Named
from weft._core.platform.flag_errors import (  # noqa: F401 - public in tf.flags
    CantOpenFlagFileError,
    DuplicateFlagError,
    Error,
    FlagNameConflictsWithMethodError,
    IllegalFlagValueError,
    UnparsedFlagAccessError,
    UnrecognizedFlagError,
    ValidationError,
)
from weft._core.platform.flag_modules import ByModule, calling_module, disclaim_key_flags  # noqa: F401 - public in tf.flags
from weft._core.platform.flag_parsers import (
    ArgumentParser,
    ArgumentSerializer,
    BooleanParser,
    CsvListSerializer,
    EnumClassListSerializer,
    EnumClassParser,
    EnumClassSerializer,
    EnumParser,
    FloatParser,
    IntegerParser,
    ListParser,
    ListSerializer,
    WhitespaceSeparatedListParser,
    print_usage,
    text_wrap,
)


class Flag(metaclass=Named):
    """A flag: its name, default, help and value."""

    def __init__(self, parser, serializer, name, default, help_string, short_name=None, boolean=False, allow_override=False,
                 allow_override_cpp=False, allow_hide_cpp=False, allow_overwrite=True, allow_using_method_names=False):
        self.parser, self.serializer, self.name, self.short_name, self.boolean = parser, serializer, name, short_name, boolean
        self.help = help_string or "(no help available)"
        self.allow_override, self.allow_override_cpp, self.allow_hide_cpp = allow_override, allow_override_cpp, allow_hide_cpp
        self.allow_overwrite, self.allow_using_method_names = allow_overwrite, allow_using_method_names
        self.present, self.validators, self.using_default_value = 0, [], True
        self._set_default(default)
        self.value = self.default

    def _set_default(self, value):
        self.default_unparsed, self.default = value, None if value is None else self._parse(value)
        self.default_as_str = self._default_text()

    def _default_text(self):
        if self.default is None:
            return None
        if self.serializer is not None:
            return repr(self.serializer.serialize(self.default))
        return repr(("true" if self.default else "false") if self.boolean else str(self.default))

    def _parse(self, argument):
        """Returns the value of an argument."""
        try:
            return self.parser.parse(argument)
        except (TypeError, ValueError, OverflowError) as e:
            raise IllegalFlagValueError("flag --%s=%s: %s" % (self.name, argument, e)) from None

    def parse(self, argument):
        """Sets the value that a command line gives."""
        if self.present and not self.allow_overwrite:
            raise IllegalFlagValueError("flag --%s=%s: already defined as %s" % (self.name, argument, self.value))
        self.value = self._parse(argument)
        self.present += 1

    def unparse(self):
        """Resets the value to the default."""
        self.value, self.using_default_value, self.present = self.default, True, 0

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return self.parser.flag_type()

    def serialize(self):
        """Returns the flag as a command line gives it."""
        return self._serialize(self.value)

    def _serialize(self, value):
        if value is None:
            return ""
        if self.boolean:
            return "--%s%s" % ("" if value else "no", self.name)
        if self.serializer is None:
            raise Error("Serializer not present for flag %s" % self.name)
        return "--%s=%s" % (self.name, self.serializer.serialize(value))

    def _help_lines(self):
        """Returns the flag in the text of --help."""
        names = "%s--%s%s: " % ("-%s," % self.short_name if self.short_name else "", "[no]" if self.boolean else "", self.name)
        out = text_wrap(names + self.help.strip(), indent="    ", firstline_indent="  ")
        if self.default_as_str is not None:
            out += "\n" + text_wrap("(default: %s)" % self.default_as_str, indent="    ")
        if self.parser.syntactic_help and not self.boolean:
            out += "\n" + text_wrap("(%s)" % self.parser.syntactic_help, indent="    ")
        return out

    def check(self):
        for ok, message in self.validators:
            _hold(functools.partial(ok, self.value), "flag --%s=%s" % (self.name, self.value), message)


class BooleanFlag(Flag):
    """A flag that is on (--name) or off (--noname)."""

    def __init__(self, name, default, help, short_name=None, **args):
        super().__init__(BooleanParser(), None, name, default, help, short_name, True, **args)


class EnumFlag(Flag):
    """A flag whose value is one of several allowed texts."""

    def __init__(self, name, default, help, enum_values, short_name=None, case_sensitive=True, **args):
        parser = EnumParser(enum_values, case_sensitive)
        super().__init__(parser, ArgumentSerializer(), name, default, help, short_name, **args)
        self.help = "<%s>: %s" % ("|".join(parser.enum_values), help or "(no help available)")


class EnumClassFlag(Flag):
    """A flag whose value is a member of an enum."""

    def __init__(self, name, default, help, enum_class, short_name=None, case_sensitive=False, **args):
        parser = EnumClassParser(enum_class, case_sensitive)
        super().__init__(parser, EnumClassSerializer(not case_sensitive), name, default, help, short_name, **args)
        self.help = "<%s>: %s" % ("|".join(parser.member_names), help or "(no help available)")


class MultiFlag(Flag):
    """A flag that can be given several times; its value is a list."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.help += ";\n    repeat this option to specify a list of values"

    def _parse(self, argument):
        values = argument if isinstance(argument, collections.abc.Iterable) and not isinstance(argument, str) else [argument]
        return [super(MultiFlag, self)._parse(v) for v in values]

    def parse(self, argument):
        """Appends the value that a command line gives."""
        made = self._parse(argument)
        self.value = self.value + made if self.present else made
        self.present += len(made)

    def _serialize(self, value):
        if self.serializer is None:
            raise Error("Serializer not present for flag %s" % self.name)
        return "\n".join("--%s=%s" % (self.name, self.serializer.serialize(v)) for v in value or ())

    def flag_type(self):
        """Returns the kind of value, for listings of flags."""
        return "multi " + self.parser.flag_type()


class MultiEnumClassFlag(MultiFlag):
    """A flag that can be given several times; its value is a list of members of an enum."""

    def __init__(self, name, default, help, enum_class, case_sensitive=False, **args):
        parser = EnumClassParser(enum_class, case_sensitive)
        serializer = EnumClassListSerializer(",", lowercase=not case_sensitive)
        super().__init__(parser, serializer, name, default, help, **args)
        self.help = "<%s>: %s;\n    repeat this option to specify a list of values" % (
            "|".join(parser.member_names), help or "(no help available)")


def _hold(ok, what, message):
    try:
        if ok():
            return
    except ValidationError as e:
        message = e
    raise IllegalFlagValueError("%s: %s" % (what, message))


class FlagHolder(metaclass=Named):
    """The result of a DEFINE function: the flag, independent of later changes of FLAGS."""

    def __init__(self, flag_values, flag, ensure_non_none_value=False):
        self._values, self._flag, self._ensure = flag_values, flag, ensure_non_none_value

    name = property(lambda self: self._flag.name)
    default = property(lambda self: self._flag.default)
    present = property(lambda self: bool(self._flag.present))

    @property
    def value(self):
        found = getattr(self._values, self._flag.name)
        if found is None and self._ensure:
            raise IllegalFlagValueError("Unexpected None value for flag %s" % self._flag.name)
        return found


def _where():
    """Returns the line of the program that defines a flag."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


class _FlagValues(ByModule, metaclass=Named):
    def __init__(self):
        d = self.__dict__
        self._start()
        d["__flags"], d["__parsed"], d["__fill"], d["__places"], d["__checks"] = {}, False, None, {}, []

    def _define(self, flag, module_name=None):
        name, places, where = flag.name, self.__dict__["__places"], _where()
        if not flag.allow_using_method_names and callable(getattr(type(self), name, None)):
            raise FlagNameConflictsWithMethodError(
                'Cannot define a flag named "%s". It conflicts with a method on class "FlagValues". To allow defining it, use '
                "allow_using_method_names and access the flag value with FLAGS['%s'].value. FLAGS.%s returns the method, not "
                "the flag value." % (name, name, name))
        old = self._flags().get(name)
        overrides = old is not None and (flag.allow_override or old.allow_override)
        if overrides and not old.using_default_value:  # The user's value is kept.
            return
        if old is not None and places.get(name) != where and not overrides:
            raise DuplicateFlagError("The flag '%s' is defined twice. First from %s, second from %s.  Description from first "
                                     "occurrence: %s" % (name, places[name][0], where[0], old.help))
        self._flags()[name], places[name] = flag, where
        self._defined(flag, module_name)
        if self.__dict__["__parsed"]:
            self._read(sys.argv[1:], only=name)

    def _flags(self):
        return self.__dict__["__flags"]

    def __getattr__(self, name):
        if name.startswith("_") and name not in self._flags():  # Python's own modules look up such names on any object.
            raise AttributeError(name)
        if not self.__dict__["__parsed"]:
            # The flags of a cluster may have other names in this program; `weft run` fills them in afterwards.
            self(sys.argv, known_only=self.__dict__["__fill"] is not None)
        try:
            return self._flags()[name].value
        except KeyError:
            others = _of_absl(self)
            if others is not None and name in others:
                return others[name].value
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        if not self.__dict__["__parsed"]:
            self(sys.argv)
        if name not in self._flags():
            raise UnrecognizedFlagError(name, value)
        flag = self._flags()[name]
        flag.value, flag.using_default_value = value, False
        flag.check()
        self._check_together(name)

    def __delattr__(self, name):
        if name not in self._flags():
            raise AttributeError(name)
        del self._flags()[name]
        self._forget(name)

    def __contains__(self, name):
        return name in self._flags()

    def __iter__(self):
        return iter(self._flags())

    def __len__(self):
        return len(self._flags())

    def __getitem__(self, name):
        return self._flags()[name]

    def __setitem__(self, name, flag):
        if not isinstance(flag, Flag):
            raise IllegalFlagValueError("Expect Flag instances, found type %s. Maybe you didn't mean to use FlagValue.__setitem__?"
                                        % type(flag))
        self._flags()[name], self.__dict__["__places"][name] = flag, _where()

    def __dir__(self):
        return sorted(self._flags())

    def __call__(self, argv, known_only=False):
        """Parses a command line, and returns the remaining arguments after the program's name."""
        if isinstance(argv, (str, bytes)) or not argv:
            raise TypeError("argv should be a list of strings, not %r" % (argv,))
        for flag in self._flags().values():
            flag.present = 0
        others = _of_absl(self)
        rest = self._read(argv[1:], unknown="keep" if known_only or others is not None else "refuse")
        if others is not None:
            rest = others([argv[0]] + rest, known_only=known_only)[1:]
            for name, flag in self._flags().items():
                if flag.present and name in others:
                    others[name].value = flag.value
        self.__dict__["__parsed"] = True
        if self.__dict__["__fill"] is not None:
            self.__dict__["__fill"](self, argv)
        self.validate_all_flags()
        return [argv[0]] + rest

    def validate_all_flags(self):
        for flag in self._flags().values():
            flag.check()
        self._check_together()

    def _check_together(self, name=None):
        for names, ok, message in self.__dict__["__checks"]:
            if name is None or name in names:
                values = {n: self._flags()[n].value for n in names}
                _hold(functools.partial(ok, values), "flags " + ", ".join("%s=%s" % pair for pair in values.items()), message)

    def _fill_with(self, fn):
        """Makes fn(flags, argv) be called after each parsing of a command line."""
        self.__dict__["__fill"] = fn

    def _defines(self, name):
        return name in self._flags()

    def _is_text(self, name):
        """Returns whether the program defines a flag of that name with a text value.

        A number means something other than hosts.
        """
        return name in self._flags() and type(self._flags()[name].parser) is ArgumentParser

    def _is_number(self, name):
        """Returns whether the program defines a flag of that name whose value may be a number, also as text."""
        flag = self._flags().get(name)
        return flag is not None and (not self._is_text(name) or str(flag.default or 0).isdigit())

    def _fill(self, name, value):
        """Sets a flag that the program defines and the user did not set."""
        flag = self._flags().get(name)
        if flag is not None and not flag.present:
            flag.value = flag._parse(value)

    def _parse_flags(self, args=None):
        self([sys.argv[0]] + list(sys.argv[1:] if args is None else args), known_only=True)

    def is_parsed(self):
        return self.__dict__["__parsed"]

    def mark_as_parsed(self):
        self.__dict__["__parsed"] = True

    def unparse_flags(self):
        for flag in self._flags().values():
            flag.unparse()
        self.__dict__["__parsed"] = False

    def set_default(self, name, value):
        if name not in self._flags():
            raise UnrecognizedFlagError(name, value)
        flag = self._flags()[name]
        flag._set_default(value)
        if flag.using_default_value:
            flag.value = flag.default
            flag.check()

    def get_flag_value(self, name, default):
        value = getattr(self, name)
        return default if value is None else value

    def append_flag_values(self, flag_values):
        """Adds the flags of another FlagValues, with their values."""
        places = flag_values.__dict__["__places"]
        for name, flag in flag_values._flags().items():
            if name in self._flags():
                raise DuplicateFlagError("The flag '%s' is defined twice. First from %s, second from %s.  Description from first "
                                         "occurrence: %s" % (name, self.__dict__["__places"][name][0], places[name][0],
                                                             self._flags()[name].help))
            self._flags()[name], self.__dict__["__places"][name] = flag, places[name]

    def remove_flag_values(self, flag_values):
        """Removes the flags of another FlagValues, or with these names."""
        for name in list(flag_values):
            self.__delattr__(name)

    def flag_values_dict(self):
        """Returns the value of each flag, under its short name, too."""
        return {n: f.value for f in self._flags().values() for n in (f.name, f.short_name) if n}

    def flags_into_string(self):
        return "".join(f.serialize() + "\n" for _, f in sorted(self._flags().items()) if f.value is not None)

    def append_flags_into_file(self, filename):
        with open(filename, "a") as f:
            f.write(self.flags_into_string())

    @property
    def __flags(self):  # Programs use FLAGS.__flags outside of classes.
        return self._flags()

    def _find(self, word):
        flags = self._flags()
        if word in flags:
            return flags[word]
        return next((f for f in flags.values() if f.short_name == word), None)

    def _words(self, words):
        """Returns the command line with the lines of flag files in their places, and the names that may be unknown."""
        out, allowed = [], set()
        words = iter(words)
        for word in words:
            name, equals, text = word.lstrip("-").partition("=")
            if word == "--":
                return out + [word, *words], allowed
            if word.startswith("-") and name in ("flagfile", "undefok") and name not in self._flags():
                text = text if equals else next(words, "")
                if name == "undefok":
                    allowed |= set(text.split(","))
                else:
                    more, also = self._words(_lines_of(text))
                    out, allowed = out + more, allowed | also
                continue
            out.append(word)
        return out, allowed

    def _read(self, words, only=None, unknown="keep"):
        words, allowed = self._words(words)
        rest, i = [], 0
        while i < len(words):
            word = words[i]
            i += 1
            if word == "--":
                rest.extend(words[i - 1:] if unknown == "keep" else words[i:])
                break
            if not word.startswith("-") or word in ("-", ""):
                rest += [word] if self.is_gnu_getopt() else words[i - 1:]
                if self.is_gnu_getopt():
                    continue
                break
            name, equals, text = word.lstrip("-").partition("=")
            flag, negated = self._find(name), False
            if flag is None and name.startswith("no"):
                flag, negated = self._find(name[2:]), True
                flag = flag if flag is not None and flag.boolean else None
                if flag is not None and equals:
                    raise ValueError("%s does not take an argument" % word)
            if flag is None:
                if name in ("help", "h", "helpfull", "helpshort") and only is None:
                    print_usage(self, name)
                    sys.exit(1)
                if name in allowed or (name.startswith("no") and name[2:] in allowed):
                    continue
                if unknown == "refuse" and not re.match(r"\d", name):
                    raise UnrecognizedFlagError(name, text)
                rest.append(word)
                continue
            if not equals:
                if flag.boolean:
                    text = not negated
                    if not negated and i < len(words) and words[i].lower() in ("true", "false"):
                        text = words[i]
                        i += 1
                elif i < len(words):
                    text = words[i]
                    i += 1
                else:
                    raise Error("Missing value for flag --%s" % name)
            if only is None or only == flag.name:
                flag.parse(text)
                flag.using_default_value = False
        return rest

    def _lines(self, path):
        return _lines_of(path)

    def _missing_file(self):
        return IllegalFlagValueError("--flagfile with no argument")

    def _special(self):
        return _SPECIAL


def _lines_of(path):
    try:
        with open(os.path.expanduser(path)) as f:
            lines = [line.strip() for line in f]
    except OSError as e:
        raise CantOpenFlagFileError("ERROR:: Unable to open flagfile: %s" % e) from None
    return [line for line in lines if line and not line.startswith(("#", "//"))]


FlagValues = _FlagValues
FLAGS = _FlagValues()


# ---- an installed absl ----

def _of_absl(flags):
    """Returns the flags of an installed absl that the program imported; in TensorFlow they are the same as tf.flags."""
    found = getattr(sys.modules.get("absl.flags"), "FLAGS", None)
    return found if flags is FLAGS and found is not FLAGS else None


def _tell_absl(flag, flag_values):
    """Defines a flag for absl.app.run, too."""
    others, theirs = _of_absl(flag_values), sys.modules.get("absl.flags")
    if others is None or flag.name in others:
        return
    if flag.boolean:
        theirs.DEFINE_boolean(flag.name, flag.default, flag.help or "")
    elif isinstance(flag, MultiFlag):
        theirs.DEFINE_multi(flag.parser, flag.serializer, flag.name, flag.default, flag.help or "")
    else:
        theirs.DEFINE(flag.parser, flag.name, flag.default, flag.help or "", serializer=flag.serializer)


# ---- definitions ----

def DEFINE_flag(flag, flag_values=FLAGS, module_name=None, required=False):
    """Adds a flag that the caller made, and returns its holder."""
    if required and flag.default is not None:
        raise ValueError("Required flag --%s needs to have None as default" % flag.name)
    flag_values._define(flag, module_name)
    _tell_absl(flag, flag_values)
    if required:
        mark_flag_as_required(flag.name, flag_values)
    return FlagHolder(flag_values, flag, required or flag.default is not None)


def DEFINE(parser, name, default, help, flag_values=FLAGS, serializer=None, module_name=None, required=False, **args):
    """Returns a flag whose text a parser reads."""
    return DEFINE_flag(Flag(parser, serializer, name, default, help, **args), flag_values, module_name, required)


def DEFINE_multi(parser, serializer, name, default, help, flag_values=FLAGS, module_name=None, required=False, **args):
    """Returns a flag that may be given several times; its value is the list of parsed values."""
    return DEFINE_flag(MultiFlag(parser, serializer, name, default, help, **args), flag_values, module_name, required)


def DEFINE_string(name, default=None, help="", flag_values=FLAGS, required=False, **args):
    """Returns a flag whose value is text; numbers as defaults are taken as text."""
    return DEFINE(ArgumentParser(), name, default if default is None else str(default), help, flag_values,
                  ArgumentSerializer(), required=required, **args)


def _whole(default):
    """Returns the default of an integer flag: programs from before TensorFlow 1.5 write 1e3."""
    return int(default) if isinstance(default, float) and default.is_integer() else default


def _bounded(holder, parser):
    """Makes assignments FLAGS.name = value check the bounds, too."""
    def within(value):
        if value is not None and parser.is_outside_bounds(value):
            raise ValidationError("%s is not %s" % (value, parser.syntactic_help))
        return True
    if parser.lower_bound is not None or parser.upper_bound is not None:
        holder._flag.validators.append((within, ""))
    return holder


def DEFINE_integer(name, default=None, help="", lower_bound=None, upper_bound=None, flag_values=FLAGS, required=False, **args):
    """Returns a flag whose value is an integer, between the bounds if there are any."""
    parser = IntegerParser(lower_bound, upper_bound)
    made = DEFINE(parser, name, _whole(default), help, flag_values, ArgumentSerializer(), required=required, **args)
    return _bounded(made, parser)


def DEFINE_float(name, default=None, help="", lower_bound=None, upper_bound=None, flag_values=FLAGS, required=False, **args):
    """Returns a flag whose value is a number, between the bounds if there are any."""
    parser = FloatParser(lower_bound, upper_bound)
    return _bounded(DEFINE(parser, name, default, help, flag_values, ArgumentSerializer(), required=required, **args), parser)


def DEFINE_boolean(name, default=None, help="", flag_values=FLAGS, module_name=None, required=False, **args):
    """Returns a flag that is on (--name) or off (--noname)."""
    return DEFINE_flag(BooleanFlag(name, default, help, **args), flag_values, module_name, required)


DEFINE_bool = DEFINE_boolean


def DEFINE_list(name, default=None, help="", flag_values=FLAGS, required=False, **args):
    """Returns a flag whose value is a list of texts with commas between them."""
    return DEFINE(ListParser(), name, default, help, flag_values, CsvListSerializer(","), required=required, **args)


def DEFINE_spaceseplist(name, default=None, help="", comma_compat=False, flag_values=FLAGS, required=False, **args):
    """Returns a flag whose value is a list of texts with spaces between them."""
    return DEFINE(WhitespaceSeparatedListParser(comma_compat), name, default, help, flag_values, ListSerializer(" "),
                  required=required, **args)


def DEFINE_enum(name, default, enum_values, help="", flag_values=FLAGS, module_name=None, required=False, **args):
    """Returns a flag whose value is one of some texts."""
    return DEFINE_flag(EnumFlag(name, default, help, enum_values, **args), flag_values, module_name, required)


def DEFINE_enum_class(name, default, enum_class, help="", flag_values=FLAGS, module_name=None, case_sensitive=False,
                      required=False, **args):
    """Returns a flag whose value is a member of an enum."""
    return DEFINE_flag(EnumClassFlag(name, default, help, enum_class, case_sensitive=case_sensitive, **args), flag_values,
                       module_name, required)


def DEFINE_multi_string(name, default=None, help="", flag_values=FLAGS, required=False, **args):
    """Returns a flag that may be given several times: the list of its values."""
    return DEFINE_multi(ArgumentParser(), ArgumentSerializer(), name, default, help, flag_values, required=required, **args)


def DEFINE_multi_integer(name, default=None, help="", lower_bound=None, upper_bound=None, flag_values=FLAGS, required=False,
                         **args):
    """Returns a flag that may be given several times: the list of its integers."""
    return DEFINE_multi(IntegerParser(lower_bound, upper_bound), ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_float(name, default=None, help="", lower_bound=None, upper_bound=None, flag_values=FLAGS, required=False,
                       **args):
    """Returns a flag that may be given several times: the list of its numbers."""
    return DEFINE_multi(FloatParser(lower_bound, upper_bound), ArgumentSerializer(), name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_enum(name, default, enum_values, help="", flag_values=FLAGS, case_sensitive=True, required=False, **args):
    """Returns a flag that may be given several times: the list of its values, each one of some texts."""
    parser = EnumParser(enum_values, case_sensitive)
    return DEFINE_multi(parser, ArgumentSerializer(), name, default, "<%s>: %s" % ("|".join(parser.enum_values), help),
                        flag_values, required=required, **args)


def DEFINE_multi_enum_class(name, default, enum_class, help="", flag_values=FLAGS, module_name=None, case_sensitive=False,
                            required=False, **args):
    """Returns a flag that may be given several times: the list of its members of an enum."""
    return DEFINE_flag(MultiEnumClassFlag(name, default, help, enum_class, case_sensitive, **args), flag_values, module_name,
                       required)


class _Alias(Flag):
    """Another name of a flag."""

    def __init__(self, name, original):
        self.__dict__.update(name=name, original=original, short_name=None, validators=[], help="Alias for --%s." % original.name)

    def __getattr__(self, name):
        return getattr(self.original, name)

    def __setattr__(self, name, value):
        setattr(self.original, name, value)

    value = property(lambda self: self.original.value, lambda self, v: setattr(self.original, "value", v))

    def parse(self, argument):
        self.original.parse(argument)
        self.original.using_default_value = False

    def unparse(self):
        self.original.unparse()


def DEFINE_alias(name, original_name, flag_values=FLAGS, module_name=None):
    """Returns another name of a flag."""
    if original_name not in flag_values:
        raise UnrecognizedFlagError(original_name)
    flag = flag_values._flags()[name] = _Alias(name, flag_values[original_name])
    flag_values.__dict__["__places"][name] = _where()
    return FlagHolder(flag_values, flag)


# ---- validators ----

def _name(flag):
    return flag.name if isinstance(flag, FlagHolder) else flag


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """Makes checker(value) be called whenever the flag gets a value."""
    flag_values[_name(flag_name)].validators.append((checker, message))


def validator(flag_name, message="Flag validation failed", flag_values=FLAGS):
    """Returns a decorator that calls register_validator."""
    def decorate(function):
        register_validator(flag_name, function, message, flag_values)
        return function
    return decorate


def register_multi_flags_validator(flag_names, multi_flags_checker, message="Flags validation failed", flag_values=FLAGS):
    """Makes multi_flags_checker(values by name) be called whenever one of the flags gets a value."""
    flag_values.__dict__["__checks"].append(([_name(n) for n in flag_names], multi_flags_checker, message))
    if flag_values.is_parsed():
        flag_values._check_together(_name(flag_names[0]))


def multi_flags_validator(flag_names, message="Flag validation failed", flag_values=FLAGS):
    """Returns a decorator that calls register_multi_flags_validator."""
    def decorate(function):
        register_multi_flags_validator(flag_names, function, message, flag_values)
        return function
    return decorate


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """Requires the flag to have a value."""
    flag = flag_values[_name(flag_name)]
    if flag.default is not None:
        warnings.warn("Flag --%s has a non-None default value; therefore, mark_flag_as_required will pass even if flag is not "
                      "specified in the command line!" % flag.name, stacklevel=2)
    register_validator(flag.name, lambda value: value is not None,
                       "Flag --%s must have a value other than None." % flag.name, flag_values)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """Requires all the flags to have values."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def _exclusive(names, required, is_set, what, flag_values):
    names = [_name(n) for n in names]
    message = "%s one of (%s) must %s." % ("Exactly" if required else "At most", ", ".join(names), what)

    def ok(values):
        count = sum(is_set(v) for v in values.values())
        return count == 1 or (not required and count == 0)
    register_multi_flags_validator(names, ok, message, flag_values)


def mark_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Allows at most one of the flags to have a value; with required, exactly one."""
    _exclusive(flag_names, required, lambda v: v is not None, "have a value other than None", flag_values)


def mark_bool_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Allows at most one of the flags to be true; with required, exactly one."""
    _exclusive(flag_names, required, bool, "be True", flag_values)


def set_default(flag_holder, value):
    """Changes the default of a flag."""
    flag_holder._values.set_default(flag_holder.name, value)


def override_value(flag_holder, value):
    """Changes the value of a flag."""
    setattr(flag_holder._values, flag_holder.name, flag_holder._flag._parse(value))


def flag_dict_to_args(flag_map, multi_flags=None):
    """Yields the words of a command line for values by name."""
    for key, value in flag_map.items():
        if value is None:
            yield "--%s" % key
        elif isinstance(value, bool):
            yield "--%s%s" % ("" if value else "no", key)
        elif isinstance(value, (str, bytes)):
            yield "--%s=%s" % (key, value)
        else:
            try:
                items = [str(item) for item in value]
            except TypeError:
                yield "--%s=%s" % (key, value)
                continue
            yield from ["--%s=%s" % (key, i) for i in items] if multi_flags and key in multi_flags else [
                "--%s=%s" % (key, ",".join(items))]


def adopt_module_key_flags(module, flag_values=FLAGS):
    """Makes the key flags of a module also key flags of the calling module."""
    if isinstance(module, str):
        raise Error("Expected a module object, not %r." % (module,))
    for flag in flag_values.get_key_flags_for_module(module):
        flag_values.register_key_flag_for_module(calling_module()[0], flag)


def declare_key_flag(flag_name, flag_values=FLAGS):
    """Makes a flag that another module defines a key flag of the calling module."""
    if _name(flag_name) not in flag_values:
        raise UnrecognizedFlagError(_name(flag_name))
    flag_values.register_key_flag_for_module(calling_module()[0], flag_values[_name(flag_name)])


_SPECIAL = [
    Flag(ArgumentParser(), ArgumentSerializer(), "flagfile", "",
         "Insert flag definitions from the given file into the command line."),
    Flag(ArgumentParser(), ArgumentSerializer(), "undefok", "",
         "comma-separated list of flag names that it is okay to specify on the command line even if the program does not define a "
         "flag with that name.  IMPORTANT: flags in this list that have arguments MUST use the --flag=value format."),
]
