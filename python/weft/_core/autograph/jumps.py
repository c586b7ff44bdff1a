"""Rewrites `return`, `break` and `continue` of a function as flags, so that its branches and loops have one exit.

What follows a jump is moved into the branch that does not jump, or runs only if no flag is set.
"""
import ast

_LOOPS = (ast.While, ast.For)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def parsed(text):
    """Returns the statements of a text, without places: they get those of the statement that they replace."""
    return [without_place(s) for s in ast.parse(text).body]


def without_place(tree):
    for node in ast.walk(tree):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            node.__dict__.pop(name, None)
    return tree


def _jumps(node, kinds, in_loop=False):
    """Returns whether a statement contains a jump of these kinds that leaves it; those of inner loops stay inside."""
    if isinstance(node, kinds):
        return not (in_loop and isinstance(node, (ast.Break, ast.Continue)))
    if isinstance(node, _SCOPES):
        return False
    inside = in_loop or isinstance(node, _LOOPS)
    return any(_jumps(child, kinds, inside) for child in ast.iter_child_nodes(node))


_ALL = (ast.Return, ast.Break, ast.Continue)


def _always(statements):
    """Returns whether a block jumps in every case."""
    for s in statements:
        if isinstance(s, _ALL) or (isinstance(s, ast.If) and _always(s.body) and _always(s.orelse)):
            return True
    return False


def needs_flags(function):
    """Returns whether a function returns from within a branch, a loop or a block."""
    return any(_jumps(s, (ast.Return,)) for s in function.body if not isinstance(s, ast.Return))


class Lowering:
    """Rewrites one function; new names have numbers."""

    def __init__(self):
        self.count = 0

    def function(self, body):
        """Returns the statements of a function's body without jumps but a `return` at the end."""
        flags = {"return": "ag_returns", "value": "ag_value"}
        made = parsed("ag_returns = False\nag_value = ag__.NO_VALUE") + self.block(body, flags)
        return made + parsed("return ag__.returned(ag_value)")

    def block(self, statements, flags):
        made = []
        for i, s in enumerate(statements):
            rest = statements[i + 1:]
            if isinstance(s, _ALL):
                return made + self.jump(s, flags)
            if isinstance(s, ast.If) and _jumps(s, _ALL):
                return made + self.branch(s, rest, flags)
            if isinstance(s, _LOOPS):
                made += self.loop(s, flags)
            elif isinstance(s, (ast.With, ast.Try)):
                for field in ("body", "orelse", "finalbody"):
                    if getattr(s, field, None):
                        setattr(s, field, self.block(getattr(s, field), flags))
                for handler in getattr(s, "handlers", ()):
                    handler.body = self.block(handler.body, flags)
                made.append(s)
            elif isinstance(s, ast.If):
                s.body, s.orelse = self.block(s.body, flags), self.block(s.orelse, flags)
                made.append(s)
            else:
                made.append(s)
            left = self.left(s, flags)
            if left and rest:
                return made + [self.guarded(left, self.block(rest, flags))]
        return made

    def left(self, s, flags):
        """Returns the flags that a statement may have set on its way out."""
        names = [flags["return"]] if "return" in flags and _jumped(s, flags["return"]) else []
        if not isinstance(s, _LOOPS):
            names += [flags[k] for k in ("break", "continue") if k in flags and _jumped(s, flags[k])]
        return names

    def jump(self, s, flags):
        if isinstance(s, ast.Return):
            if "return" not in flags:
                return [s]
            made = parsed("%s = True\n%s = None" % (flags["return"], flags["value"]))
            if s.value is not None:
                made[1].value = s.value
            return [ast.copy_location(m, s) for m in made]
        return parsed("%s = True" % flags["break" if isinstance(s, ast.Break) else "continue"])

    def branch(self, s, rest, flags):
        """Returns an `if` that jumps, with what follows it in the branch that goes on."""
        for field, other in (("body", s.orelse), ("orelse", s.body)):
            if _always(other) and rest and not _always(getattr(s, field)):
                setattr(s, field, getattr(s, field) + rest)
                rest = []
        s.body, s.orelse = self.block(s.body, flags), self.block(s.orelse, flags)
        if not rest:
            return [s]
        left = self.left(s, flags)
        return [s, self.guarded(left, self.block(rest, flags))] if left else [s, *self.block(rest, flags)]

    def guarded(self, names, statements):
        made = parsed("if not (%s):\n    pass" % " or ".join(names))[0]
        made.body = statements
        return made

    def loop(self, s, flags):
        self.count += 1
        own = {k: v for k, v in flags.items() if k in ("return", "value")}
        before, start = [], []
        if any(_jumps(x, (ast.Break,)) for x in s.body):
            own["break"] = "ag_breaks_%d" % self.count
            before = parsed("%s = False" % own["break"])
        if any(_jumps(x, (ast.Continue,)) for x in s.body):
            own["continue"] = "ag_continues_%d" % self.count
            start = parsed("%s = False" % own["continue"])
        stops = [own["break"]] if "break" in own else []
        if "return" in own and any(_jumps(x, (ast.Return,)) for x in s.body):
            stops.append(own["return"])
        body, after = self.block(s.body, own), s.orelse
        s.body, s.orelse = start + body, []
        extra = without_place(ast.parse("not (%s)" % " or ".join(stops), mode="eval").body) if stops else None
        if isinstance(s, ast.While):
            s.test = s.test if extra is None else ast.BoolOp(ast.And(), [extra, s.test])
        else:
            s.extra = extra
        after = self.block(after, flags)
        if after and stops:
            after = [self.guarded(stops, after)]
        return [*before, s, *after]


def _jumped(node, flag):
    """Returns whether a rewritten statement may set a flag to True."""
    return any(isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) and n.value.value is True
               and isinstance(n.targets[0], ast.Name) and n.targets[0].id == flag for n in ast.walk(node))
