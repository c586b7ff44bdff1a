"""Rewrites the branches and loops of a function as calls of operators.py, which decide what they become.

A block becomes a function that changes the variables of the function around it.  Two more functions read and write these
variables, so that an operator can run a block on other values.
"""
import ast

from weft._core.autograph import jumps

_PLAIN = {"super", "locals", "globals", "vars", "eval", "exec"}  # they look at the frame of their caller


def _stored(node, found):
    """Adds the names and attributes that statements assign, those of inner scopes not included."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        found.add(node.name)
        return
    if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        found.add(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        found.add("%s.%s" % (node.value.id, node.attr))
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        found.update((a.asname or a.name).partition(".")[0] for a in node.names)
    if isinstance(node, ast.ExceptHandler) and node.name:
        found.add(node.name)
    for child in ast.iter_child_nodes(node):
        _stored(child, found)


def stored(nodes):
    found = set()
    for node in nodes:
        _stored(node, found)
    return found


class Transformer(ast.NodeTransformer):
    """Rewrites the body of one function."""

    def __init__(self, recursive, parameters):
        self.recursive, self.parameters = recursive, parameters
        self.count, self.state, self.globals, self.outer = 0, set(), set(), set()

    def function(self, node):
        """Rewrites a function definition in place."""
        if jumps.needs_flags(node):
            node.body = jumps.Lowering().function(node.body)
        else:
            last = node.body[-1] if isinstance(node.body[-1], ast.Return) else None
            node.body = jumps.Lowering().block(node.body[:-1] if last else node.body, {}) + ([last] if last else [])
        for n in ast.walk(node):
            self.globals.update(n.names if isinstance(n, ast.Global) else ())
            self.outer.update(n.names if isinstance(n, ast.Nonlocal) else ())
        body = [m for s in node.body for m in self.statements(s)]
        unset = sorted(n for n in self.state - self.parameters - self.globals - self.outer if "." not in n)
        declared = [s for s in body if isinstance(s, (ast.Global, ast.Nonlocal))]
        body = [s for s in body if s not in declared]
        node.body = declared + jumps.parsed("".join("%s = ag__.Undefined(%r)\n" % (n, n) for n in unset)) + body or [ast.Pass()]

    def statements(self, s):
        made = self.visit(s)
        return made if isinstance(made, list) else [made]

    def visit_FunctionDef(self, node):
        inner = Transformer(self.recursive, parameters_of(node))
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        inner.function(node)
        return node

    def visit_AsyncFunctionDef(self, node):
        return node

    def visit_ClassDef(self, node):
        return node

    # ---- statements ----

    def blocks(self, statements, names, text):
        """Returns the functions that read and write the names, then those of `text`, whose bodies are the statements."""
        self.count += 1
        self.state |= names
        names = sorted(names)
        simple = [n for n in names if "." not in n]
        shared = [n for n in simple if n not in self.globals]
        declared = ("    nonlocal %s\n" % ", ".join(shared) if shared else "") + (
            "    global %s\n" % ", ".join(set(simple) - set(shared)) if set(simple) - set(shared) else "")
        read = "".join("ag__.attribute(%s, %r), " % (*n.split("."),) if "." in n else n + ", " for n in names)
        write = "".join("    ag__.set_attribute(%s, %r, ag_values[%d])\n" % (*n.split("."), i) if "." in n else
                        "    %s = ag_values[%d]\n" % (n, i) for i, n in enumerate(names))
        number = str(self.count)
        source = "def ag_get_N():\n    return (%s)\ndef ag_set_N(ag_values):\n%s%s    pass\n%s" % (read, declared, write, text)
        made = jumps.parsed(source.replace("_N", "_" + number).replace("    DECLARED\n", declared).replace("NAMES", repr(tuple(names))))
        for function in made:
            where = [i for i, s in enumerate(getattr(function, "body", ())) if isinstance(s, ast.Expr)
                     and isinstance(s.value, ast.Name) and s.value.id.startswith("BLOCK")]
            for i in where:
                function.body[i:i + 1] = statements[int(function.body[i].value.id[5:])] or [ast.Pass()]
        return made

    def block(self, statements):
        return [m for s in statements for m in self.statements(s)]

    def visit_If(self, node):
        names = stored(node.body + node.orelse)
        made = self.blocks([self.block(node.body), self.block(node.orelse)], names,
                           "def ag_then_N():\n    DECLARED\n    BLOCK0\ndef ag_else_N():\n    DECLARED\n    BLOCK1\n"
                           "ag__.if_stmt(TEST, ag_then_N, ag_else_N, ag_get_N, ag_set_N, NAMES)")
        made[-1].value.args[0] = self.visit(node.test)
        return self.placed(made, node)

    def visit_While(self, node):
        options, body = self.options(node.body)
        names = stored(body)
        made = self.blocks([self.block(body)], names,
                           "def ag_test_N():\n    return TEST\ndef ag_body_N():\n    DECLARED\n    BLOCK0\n"
                           "ag__.while_stmt(ag_test_N, ag_body_N, ag_get_N, ag_set_N, NAMES, OPTIONS)")
        made[2].body[0].value = self.visit(node.test)
        made[-1].value.args[-1] = options
        return self.placed(made, node)

    def visit_For(self, node):
        options, body = self.options(node.body)
        target = stored([node.target])
        names = stored(body) - target
        self.state |= target
        simple = sorted(n for n in target if "." not in n and n not in self.globals)
        inner = "    nonlocal %s\n" % ", ".join(simple) if simple else ""
        made = self.blocks([self.block(body)], names,
                           "def ag_extra_N():\n    return True\ndef ag_body_N(ag_item):\n    DECLARED\n%s    TARGET = ag_item\n    BLOCK0\n"
                           "if ag__.for_stmt(ITER, ag_extra_N, ag_body_N, ag_get_N, ag_set_N, NAMES, OPTIONS):\n%s    pass" % (
                               inner, "".join("    %s = ag__.Undefined(%r)\n" % (n, n) for n in simple)))
        assign = next(s for s in made[3].body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
                      and s.targets[0].id == "TARGET")
        assign.targets = [node.target]
        if getattr(node, "extra", None) is not None:
            made[2].body[0].value = self.visit(node.extra)
        else:
            made[-1].test.args[1] = ast.Constant(None)
        made[-1].test.args[0], made[-1].test.args[-1] = self.visit(node.iter), options
        return self.placed(made, node)

    def options(self, body):
        """Takes a call of set_loop_options from the start of a loop; returns a function of its options, and the rest."""
        first = next((s for s in body if not isinstance(s, ast.Assign)), None)
        call = first.value if isinstance(first, ast.Expr) else None
        name = getattr(getattr(call, "func", None), "attr", getattr(getattr(call, "func", None), "id", None))
        if name != "set_loop_options":
            return ast.Constant(None), body
        made = jumps.without_place(ast.parse("lambda: ag__.loop_options()", mode="eval").body)
        made.body.args, made.body.keywords = call.args, call.keywords
        return made, [s for s in body if s is not first]

    # ---- expressions ----

    def operator(self, text, node, *parts):
        made = jumps.without_place(ast.parse("ag__.%s" % text, mode="eval").body)
        for i, part in enumerate(parts):
            if isinstance(made.args[i], ast.Lambda):
                made.args[i].body = part
            else:
                made.args[i] = part
        return self.placed(made, node)

    def visit_BoolOp(self, node):
        values = [self.visit(v) for v in node.values]
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        made = values.pop()
        for value in reversed(values):
            made = self.operator("%s(A, lambda: B)" % name, node, value, made)
        return made

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self.operator("not_(A)", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return self.operator("if_exp(A, lambda: B, lambda: C)", node, node.test, node.body, node.orelse)

    def visit_Call(self, node):
        self.generic_visit(node)
        if self.recursive and not (isinstance(node.func, ast.Name) and node.func.id in _PLAIN):
            if not (isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "ag__"):
                node.func = self.operator("call(A)", node.func, node.func)
        return node

    @staticmethod
    def placed(made, node):
        """Gives new nodes the place of an old one."""
        for n in made if isinstance(made, list) else [made]:
            for inner in ast.walk(n):
                if not hasattr(inner, "lineno"):
                    ast.copy_location(inner, node)
        return made


def parameters_of(node):
    a = node.args
    return {x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]}
