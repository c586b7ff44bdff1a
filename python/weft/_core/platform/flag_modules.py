"""The part of FLAGS about modules: which module defined a flag, and which modules show it in their help.

A module is known by its name, the program itself by sys.argv[0].  The key flags of a module are those that it defines
and those that it declared as its own.
"""
import sys

_disclaimed = set()  # the ids of modules whose definitions count as made by the calling module


def calling_module():
    """Returns (name, id) of the nearest module on the stack that is not the flags' own and did not disclaim its flags.
    """
    frame, package = sys._getframe(1), __name__.rpartition(".")[0]
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        module = sys.modules.get(name)
        if name.rpartition(".")[0] != package and id(module) not in _disclaimed:
            return (sys.argv[0] if name == "__main__" else name), id(module)
        frame = frame.f_back
    raise AssertionError("No module was found")


def disclaim_key_flags():
    """Makes the flags that the calling module defines count as defined by the modules that call it."""
    space = sys._getframe(1).f_globals
    _disclaimed.add(id(sys.modules.get(space.get("__name__"))))


def _name_of(module):
    if not isinstance(module, str):
        module = module.__name__
    return sys.argv[0] if module == "__main__" else module


def _add(table, key, flag):
    if flag not in table.setdefault(key, []):
        table[key].append(flag)


class ByModule:
    """The base of FlagValues with the methods about modules. The flags themselves are in _flags()."""

    def _start(self):
        self.__dict__.update(__modules={}, __module_ids={}, __keys={}, __gnu=True)

    def _defined(self, flag, module_name):
        """Records the module that defines a flag."""
        if module_name:
            name, number = module_name, id(sys.modules.get(module_name))
        else:
            name, number = calling_module()
        self._forget(flag.name)
        self.register_flag_by_module(name, flag)
        self.register_flag_by_module_id(number, flag)

    def _forget(self, flag_name):
        for table in (self.flags_by_module_dict(), self.flags_by_module_id_dict(), self.key_flags_by_module_dict()):
            for key in table:
                table[key] = [f for f in table[key] if f.name != flag_name]

    def flags_by_module_dict(self):
        """Returns {module: the flags that it defines}"""
        return self.__dict__["__modules"]

    def flags_by_module_id_dict(self):
        """Returns {id of a module: the flags that it defines}"""
        return self.__dict__["__module_ids"]

    def key_flags_by_module_dict(self):
        """Returns {module: the flags that it declared as its own}"""
        return self.__dict__["__keys"]

    def register_flag_by_module(self, module_name, flag):
        """Records that a module defines a flag."""
        _add(self.flags_by_module_dict(), module_name, flag)

    def register_flag_by_module_id(self, module_id, flag):
        """Records that the module of this id defines a flag."""
        _add(self.flags_by_module_id_dict(), module_id, flag)

    def register_key_flag_for_module(self, module_name, flag):
        """Records that a module shows a flag as its own."""
        _add(self.key_flags_by_module_dict(), module_name, flag)

    def _definer(self, table, flagname, default):
        wanted = self._find(flagname)
        return next((key for key, flags in table.items() for f in flags if wanted is not None and f.name == wanted.name), default)

    def find_module_defining_flag(self, flagname, default=None):
        """Returns the module that defines a flag."""
        return self._definer(self.flags_by_module_dict(), flagname, default)

    def find_module_id_defining_flag(self, flagname, default=None):
        """Returns the id of the module that defines a flag."""
        return self._definer(self.flags_by_module_id_dict(), flagname, default)

    def get_flags_for_module(self, module):
        """Returns the flags that a module defines."""
        return list(self.flags_by_module_dict().get(_name_of(module), []))

    def get_key_flags_for_module(self, module):
        """Returns the flags that a module defines or declared as its own."""
        found = self.get_flags_for_module(module)
        return found + [f for f in self.key_flags_by_module_dict().get(_name_of(module), []) if f not in found]

    def is_gnu_getopt(self):
        """Returns whether flags may follow other arguments."""
        return self.__dict__["__gnu"]

    def set_gnu_getopt(self, gnu_getopt=True):
        """Sets whether flags may follow other arguments."""
        self.__dict__["__gnu"] = gnu_getopt

    def read_flags_from_files(self, argv, force_gnu=True):
        """Returns a command line with the lines of its flag files in place of --flagfile."""
        out, rest = [], list(argv)
        while rest:
            word = rest.pop(0)
            if word == "--":
                return out + [word] + rest
            name, equals, path = word.lstrip("-").partition("=")
            if word.startswith("-") and name == "flagfile":
                if not equals and not rest:
                    raise self._missing_file()
                out[len(out):] = self._lines(path if equals else rest.pop(0))
                continue
            out.append(word)
            if not word.startswith("-") and not force_gnu and not self.is_gnu_getopt():
                return out + rest
        return out

    def _module_help(self, name, flags):
        if not flags:
            return ""
        return "\n%s:\n%s" % (name, "\n".join(f._help_lines() for f in sorted({id(f): f for f in flags}.values(), key=lambda f: f.name)))

    def module_help(self, module):
        """Returns the help of the key flags of a module."""
        return self._module_help(_name_of(module), self.get_key_flags_for_module(module))

    def main_module_help(self):
        """Returns the help of the key flags of the program itself."""
        return self.module_help(sys.argv[0])

    def get_help(self, prefix="", include_special_flags=True):
        """Returns the help of all flags, the program's own first."""
        names = sorted(self.flags_by_module_dict(), key=lambda n: (n != sys.argv[0], n))
        parts = [self._module_help(n, self.flags_by_module_dict()[n]) for n in names]
        if include_special_flags:
            parts.append(self._module_help("absl.flags", self._special()))
        return "\n".join(prefix + line if line else line for part in parts if part for line in part.split("\n"))
