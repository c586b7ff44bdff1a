"""Rewrites the syntax tree of a translated program where Python 3 differs from Python 2, and keeps line numbers."""
import ast
import copy

_NAMES = {"round": "__weft_round__", "sorted": "__weft_sorted__", "open": "__weft_open__", "print": "__weft_print__"}


def _future(tree, name):
    return any(isinstance(n, ast.ImportFrom) and n.module == "__future__" and any(a.name == name for a in n.names) for n in tree.body)


def _bound(tree):
    """Returns the names to which the program assigns a meaning of its own."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


def _call(name, args, like, keywords=()):
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, list(keywords)), like)


class _Meanings(ast.NodeTransformer):
    def __init__(self, tree):
        taken = _bound(tree)
        self._division = not _future(tree, "division")
        self._names = {k: v for k, v in _NAMES.items() if k not in taken}
        if _future(tree, "print_function"):
            self._names.pop("print", None)
        self._errors = []

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self._names:
            return ast.copy_location(ast.Name(self._names[node.id], ast.Load()), node)
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not self._division:
            return node
        return _call("__weft_div__", [node.left, node.right], node)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not self._division:
            return node
        target = node.target
        if any(isinstance(n, ast.Call) for n in ast.walk(target)):  # A call in `f().x /= 2` must be made only once.
            if isinstance(target, ast.Attribute):
                made = _call("__weft_idiv_attribute__", [target.value, ast.Constant(target.attr), node.value], node)
            else:
                made = _call("__weft_idiv_item__", [target.value, _key(target.slice), node.value], node)
            return ast.copy_location(ast.Expr(made), node)
        old = copy.deepcopy(target)
        old.ctx = ast.Load()
        return ast.copy_location(ast.Assign([target], _call("__weft_idiv__", [old, node.value], node)), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if method == "decode" or method == "sort" and (node.args or any(k.arg == "cmp" for k in node.keywords)):
            return _call("__weft_%s__" % method, [node.func.value] + node.args, node, node.keywords)
        return node

    def visit_ExceptHandler(self, node):
        self._errors.append(node.name)
        self.generic_visit(node)
        self._errors.pop()
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr == "message" and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) \
                and node.value.id in self._errors:
            return _call("__weft_message__", [node.value], node)
        return node

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name == "pickle":
                alias.name, alias.asname = "weft._core.run.old_pickle", alias.asname or "pickle"
        return node

    def visit_ImportFrom(self, node):
        if node.module == "pickle" and not node.level:
            node.module = "weft._core.run.old_pickle"
        return node


def _key(part):
    """Returns the content of the brackets as a value; a slice becomes a call."""
    if not isinstance(part, ast.Slice):
        return part
    return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), [
        ast.Constant(None) if p is None else p for p in (part.lower, part.upper, part.step)], []), part)


def with_old_meanings(text, path):
    """Returns the tree of a program with the syntax of Python 3 and the semantics of Python 2."""
    tree = ast.parse(text, path)
    return ast.fix_missing_locations(_Meanings(tree).visit(tree))
