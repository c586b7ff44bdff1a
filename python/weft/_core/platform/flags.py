"""tf.app.flags: flags of a program, read when they are first asked for.

Both spellings (--name value, --name=value, one dash or two) are understood; --flag and --noflag set booleans; flags
that nobody defined stay in sys.argv.  A flag may be defined again with the same default.
"""
import sys

_TRUE, _FALSE = ("true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")


def _bool(text):
    if isinstance(text, bool):
        return text
    if str(text).lower() in _TRUE:
        return True
    if str(text).lower() in _FALSE:
        return False
    raise ValueError("Non-boolean argument to boolean flag: %s" % text)


def _list(text):
    return list(text) if isinstance(text, (list, tuple)) else [p.strip() for p in text.split(",")] if text else []


class Flag:
    def __init__(self, name, default, help, parse, short_name=None):
        self.name, self.default, self.help, self.parse, self.short_name = name, default, help, parse, short_name
        self.value = None if default is None else parse(default)
        self.present = 0


class FlagsError(Exception):
    pass


class _FlagValues:
    def __init__(self):
        d = self.__dict__
        d["__flags"], d["__parsed"], d["__required"], d["__fill"] = {}, False, set(), None

    def _define(self, name, default, help, parse, short_name=None):
        self.__dict__["__flags"][name] = Flag(name, default, help, parse, short_name)
        if self.__dict__["__parsed"]:
            self._read(sys.argv[1:], only=name)

    def _flags(self):
        return self.__dict__["__flags"]

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if not self.__dict__["__parsed"]:
            self(sys.argv)
        try:
            return self._flags()[name].value
        except KeyError:
            raise AttributeError("Unknown command line flag '%s'" % name) from None

    def __setattr__(self, name, value):
        if not self.__dict__["__parsed"]:
            self(sys.argv)
        if name not in self._flags():
            self._define(name, value, "", lambda v: v)
        self._flags()[name].value = value

    def __delattr__(self, name):
        self._flags().pop(name, None)

    def __contains__(self, name):
        return name in self._flags()

    def __iter__(self):
        return iter(self._flags())

    def __getitem__(self, name):
        return self._flags()[name]

    def __dir__(self):
        return sorted(self._flags())

    def __call__(self, argv, known_only=True):
        """Reads a command line; gives what is left of it, the program's name first."""
        self.__dict__["__parsed"] = True
        rest = self._read(argv[1:])
        if self.__dict__["__fill"] is not None:
            self.__dict__["__fill"](self, argv)
        return [argv[0]] + rest

    def _fill_with(self, fn):
        """fn(flags, argv) is called after each reading of a command line."""
        self.__dict__["__fill"] = fn

    def _defines(self, name):
        return name in self._flags()

    def _is_text(self, name):
        """Does the program define a flag of that name whose value is text?  A number has another meaning than hosts."""
        return name in self._flags() and self._flags()[name].parse is str

    def _is_number(self, name):
        """Does the program define a flag of that name that may be a number, as text too?"""
        flag = self._flags().get(name)
        return flag is not None and (flag.parse is not str or str(flag.default or 0).isdigit())

    def _fill(self, name, value):
        """Sets a flag that the program defines and the user left alone."""
        flag = self._flags().get(name)
        if flag is not None and not flag.present:
            flag.value = flag.parse(value)

    def _parse_flags(self, args=None):
        self([sys.argv[0]] + list(sys.argv[1:] if args is None else args))

    def is_parsed(self):
        return self.__dict__["__parsed"]

    def mark_as_parsed(self):
        self.__dict__["__parsed"] = True

    def flag_values_dict(self):
        return {n: f.value for n, f in self._flags().items()}

    @property
    def __flags(self):  # FLAGS.__flags of programs outside of classes
        return self._flags()

    def _find(self, word):
        flags = self._flags()
        if word in flags:
            return flags[word]
        return next((f for f in flags.values() if f.short_name == word), None)

    def _read(self, words, only=None):
        rest, i = [], 0
        while i < len(words):
            word = words[i]
            i += 1
            if word == "--":
                rest.extend(words[i:])
                break
            if not word.startswith("-") or word in ("-", ""):
                rest.append(word)
                continue
            name, equals, text = word.lstrip("-").partition("=")
            flag, negated = self._find(name), False
            if flag is None and name.startswith("no") and not equals:
                flag, negated = self._find(name[2:]), True
                flag = flag if flag is not None and flag.parse is _bool else None
            if flag is None:
                if name in ("help", "h", "helpfull") and "help" not in self._flags() and only is None:
                    print(self.get_help())
                    sys.exit(1)
                rest.append(word)
                continue
            if not equals:
                if flag.parse is _bool:
                    text = not negated
                    if not negated and i < len(words) and words[i].lower() in _TRUE + _FALSE:
                        text = words[i]
                        i += 1
                elif i < len(words):
                    text = words[i]
                    i += 1
                else:
                    raise FlagsError("Missing value for flag --%s" % name)
            if only is None or only == flag.name:
                try:
                    flag.value = flag.parse(text)
                except ValueError as e:
                    raise FlagsError("flag --%s=%s: %s" % (flag.name, text, e)) from None
                flag.present += 1
        return rest

    def get_help(self, *unused):
        lines = ["usage: %s [flags]" % sys.argv[0], "flags:"]
        lines += ["  --%s: %s\n    (default: %r)" % (f.name, f.help, f.default) for f in self._flags().values()]
        return "\n".join(lines)

    def main_module_help(self):
        return self.get_help()


FLAGS = _FlagValues()


def DEFINE_string(flag_name, default_value=None, docstring="", **kwargs):
    FLAGS._define(flag_name, default_value, docstring, str, kwargs.get("short_name"))


def DEFINE_integer(flag_name, default_value=None, docstring="", lower_bound=None, upper_bound=None, **kwargs):
    FLAGS._define(flag_name, default_value, docstring, lambda v: int(v, 0) if isinstance(v, str) else int(v) if
                  int(v) == v else v, kwargs.get("short_name"))


def DEFINE_float(flag_name, default_value=None, docstring="", lower_bound=None, upper_bound=None, **kwargs):
    FLAGS._define(flag_name, default_value, docstring, float, kwargs.get("short_name"))


def DEFINE_boolean(flag_name, default_value=None, docstring="", **kwargs):
    FLAGS._define(flag_name, default_value, docstring, _bool, kwargs.get("short_name"))


DEFINE_bool = DEFINE_boolean


def DEFINE_list(flag_name, default_value=None, docstring="", **kwargs):
    FLAGS._define(flag_name, default_value, docstring, _list, kwargs.get("short_name"))


def DEFINE_enum(flag_name, default_value, enum_values, docstring="", **kwargs):
    def parse(text):
        if text not in enum_values:
            raise ValueError("value should be one of <%s>" % "|".join(enum_values))
        return text
    FLAGS._define(flag_name, default_value, docstring, parse, kwargs.get("short_name"))


def DEFINE_multi_string(flag_name, default_value, docstring="", **kwargs):
    FLAGS._define(flag_name, default_value, docstring, lambda v: list(v) if isinstance(v, (list, tuple)) else [v])


def DEFINE_multi_integer(flag_name, default_value, docstring="", **kwargs):
    FLAGS._define(flag_name, default_value, docstring,
                  lambda v: [int(x) for x in (v if isinstance(v, (list, tuple)) else [v])])


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    flag_values.__dict__["__required"].add(flag_name)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def check_required():
    for name in sorted(FLAGS.__dict__["__required"]):
        if FLAGS._flags()[name].value is None:
            raise FlagsError("Flag --%s must have a value other than None." % name)


def adopt_module_key_flags(*args, **kwargs):
    pass


declare_key_flag = adopt_module_key_flags
Error = IllegalFlagValueError = FlagsError
