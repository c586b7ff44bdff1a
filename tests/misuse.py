#!/usr/bin/env python3
"""misuse.py BUILD: calls every function of the public headers with NULL for each pointer, with negative counts and indexes,
and with outputs of another graph.

A parameter that is required (not marked WEFT_OPTIONAL) makes a function that returns weft_err say INVALID_ARGUMENT and
name the parameter; one that returns a weft_out gives WEFT_NONE, a getter 0 or NULL.  A call that adds to a builder makes
the node fail with such an error.  Nothing ever crashes, at NULL for what is to be destroyed and at indexes that are not
there either.  An output of another graph is refused with a message that says so.
The calls are written here from the headers, the generated ops.h too, compiled, and run, each in a process of its own; those
of ops.h share one, since they differ only in their text.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ("weft", "core", "train", "cluster", "supervise", "function")
MAKERS = {"weft_graph": "a_graph()", "weft_session": "a_session()", "weft_tensor": "a_tensor()", "weft_node": "a_node()",
          "weft_builder": "a_builder()", "weft_replica": "a_replica()", "weft_variable_scope": "a_variable_scope()",
          "weft_optimizer": "an_optimizer()", "weft_average": "an_average()", "weft_sync": "a_sync()",
          "weft_saver": "a_saver()", "weft_event_writer": "a_writer()", "weft_coordinator": "a_coordinator()",
          "weft_cluster": "a_cluster()", "weft_server": "a_server()", "weft_supervisor": "a_supervisor()",
          "weft_hook": "a_hook()", "weft_devices": "some_devices()", "weft_samples": "some_samples()",
          "weft_partial_run": "a_partial_run()", "weft_callable": "a_callable()",
          "weft_record_writer": "a_record_writer()", "weft_saved_model": "a_saved_model()",
          "weft_parked": "weft_scope_park(a_graph(), 0)", "weft_checkpoint": "a_checkpoint()",
          "weft_checkpoint_state": "a_checkpoint_state()"}
ABSENT = {"weft_run_context"}  # exists only while a hook runs
NUMBERS = {"int", "int64_t", "size_t", "double", "float", "bool", "uint64_t", "weft_dtype", "weft_err", "int32_t"}
EXITS = {"weft_must"}  # its purpose
NO_GRAPH = {"weft_out_at", "weft_hook_nan_tensor", "weft_hook_final_ops"}  # take outputs without their graph
# A rank of -1 is an unknown one, and a control scope of -1 nodes forgets outer ones.
NEGATIVE = {("weft_input", "rank"), ("weft_out_set_shape", "rank"), ("weft_builder_shape", "rank"),
            ("weft_scope_push_control", "n")}


class Parameter:
    def __init__(self, text):
        self.optional = "WEFT_OPTIONAL" in text
        text = " ".join(text.replace("WEFT_OPTIONAL", " ").split())
        pointer = re.match(r"(.*)\(\*\s*(\w+)\)(\(.*\))$", text)
        if pointer:
            self.name, self.type = pointer.group(2), "%s(*)%s" % (pointer.group(1), pointer.group(3))
        else:
            self.name = re.search(r"\w+$", text).group()
            self.type = text[:-len(self.name)].strip()
        self.pointer = "*" in self.type

    def base(self):
        return re.sub(r"\bconst\b|\*", "", self.type).strip()

    def value(self):
        """A valid argument."""
        kind, stars = self.base(), self.type.count("*")
        if "(*)" in self.type or (kind.endswith("_fn") and stars == 1):
            return "(%s)a_function" % self.type
        if stars == 2 and "const *" not in self.type.replace("*const", "const *"):
            return "(%s[1]){0}" % re.sub(r"\*$", "", self.type).strip()
        if stars == 2:
            return "(%s[]){%s, NULL}" % (re.sub(r"\*$", "", self.type).strip(),
                                          '"x"' if kind == "char" else MAKERS.get(kind, "NULL"))
        if stars == 1 and kind == "char":
            return '"x"'
        if stars == 1 and kind == "void":
            return '"abc"' if "const" in self.type else "(char[64]){0}"
        if stars == 1 and kind == "weft_out":
            return "(weft_out[16]){an_out()}"
        if stars == 1 and kind == "int64_t":
            return "(int64_t[16]){1}"
        if stars == 1 and kind in NUMBERS:
            return "(%s[16]){0}" % kind
        if stars == 1 and kind in ABSENT:
            return "NULL"
        if stars == 1:
            return MAKERS.get(kind, "&(%s){0}" % kind)
        if kind == "weft_out":
            return "a_variable()" if "var" in self.name else "an_out()"
        return "1" if kind in NUMBERS else "(%s){0}" % kind


def split(text):
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p for p in parts + [part] if p.strip() not in ("", "void")]


def functions():
    for header in HEADERS:
        text = (ROOT / "include" / "weft" / (header + ".h")).read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        text = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
        for given, name, params in re.findall(r"WEFT_(?:API|CHECKED)\s+([\w\s\*]+?)(\w+)\(([^;]*)\);", text):
            if "..." not in params and name not in EXITS:
                yield given.strip(), name, [Parameter(p) for p in split(params)]


def cases():
    """(function, parameter, what is wrong, C of the call, what is expected)."""
    for given, name, params in functions():
        for i, p in enumerate(params):
            wrong = None
            if any(q.base() in ABSENT for q in params if q is not p):
                continue
            if p.pointer:
                wrong = "(%s)NULL" % p.type if "(*)" not in p.type else "NULL"
            elif p.type == "int" and (p.name in ("n", "rank") or p.name.startswith("n_")) and (
                    (name, p.name) not in NEGATIVE):
                wrong = "-1"
            if wrong is None:
                continue
            values = [wrong if j == i else q.value() for j, q in enumerate(params)]
            expected = "works" if p.optional else {"weft_err": "refused", "weft_out": "none"}.get(given, "quiet")
            if name.endswith(("_destroy", "_close")) and p.pointer and i == 0 and (given == "void" or p.optional):
                expected = "safe"
            elif given == "void" and params[0].base() == "weft_builder" and i > 0 and not p.optional:
                expected, values[0] = "fails the node", "b"
            yield given, name, p, wrong, "%s(%s)" % (name, ", ".join(values)), expected
        yield from index_cases(given, name, params)
        yield from foreign_cases(given, name, params)


def index_cases(given, name, params):
    """The calls with a number that names nothing: an index, a count of bytes of no list, a type."""
    for i, p in enumerate(params):
        if p.pointer or p.base() not in ("int", "int64_t", "weft_dtype", "weft_err") or any(q.base() in ABSENT for q in params):
            continue
        for wrong in ("-1", "2147483647") if p.base() != "weft_dtype" else ("(weft_dtype)-1", "(weft_dtype)1000"):
            if wrong != "-1" and (p.name in ("n", "rank", "argc") or p.name.startswith("n_")):
                continue  # as many as the list beside it has
            values = [wrong if j == i else q.value() for j, q in enumerate(params)]
            yield given, name, p, wrong, "%s(%s)" % (name, ", ".join(values)), "safe"


def foreign_cases(given, name, params):
    """The calls with an output of another graph; a getter gives what it gives for no output."""
    for i, p in enumerate(params):
        is_list = p.type.startswith("const weft_out *")
        if (not (is_list or p.type == "weft_out") or given not in ("weft_err", "weft_out", "void") or name in NO_GRAPH or
                any(q.base() in ABSENT for q in params)):
            continue
        wrong = "(weft_out[16]){a_foreign_out()}" if is_list else "a_foreign_out()"
        values = [wrong if j == i else q.value() for j, q in enumerate(params)]
        yield given, name, p, wrong, "%s(%s)" % (name, ", ".join(values)), "foreign"


def op_functions(build):
    text = (pathlib.Path(build) / "include" / "weft" / "ops.h").read_text()
    for name, params in re.findall(r"static inline weft_out (\w+)\(([^)]*)\) {", text):
        yield "weft_out", name, [Parameter(p) for p in split(params)]


def op_calls(build):
    """C of the calls of ops.h, each of which gives no output: without a graph, with a list that is NULL, with -1 elements."""
    for _, name, params in op_functions(build):
        for i, p in enumerate(params):
            if p.base() == "weft_graph" or p.type == "const weft_out *":
                wrong = "NULL"
            elif p.type == "int":
                wrong = "-1"
            else:
                continue
            values = [wrong if j == i else "new_graph()" if q.base() == "weft_graph" else "1" if q.type == "int" else
                      "(weft_out[1]){{0}}" if q.type == "const weft_out *" else "(weft_out){0}" if q.type == "weft_out" else "NULL"
                      for j, q in enumerate(params)]
            named = p.name if p.base() != "weft_graph" else "g"
            yield '  op_call("%s: %s = %s", "%s", %s(%s));' % (name, p.name, wrong, named, name, ", ".join(values))


# A failed graph keeps its first error, so each call has a graph of its own.
OP_PROGRAM = """#include "tests/misuse/fixture.h"
#include <weft/ops.h>
static weft_graph *made;
static int wrong;
static weft_graph *new_graph(void) {
  weft_must(weft_graph_create(&made));
  weft_scalar(made, WEFT_FLOAT, 1);
  return made;
}
static void op_call(const char *what, const char *parameter, weft_out o) {
  const char *message = made && weft_graph_error(made) == WEFT_OK ? "" : weft_error_message();
  if (o.node >= 0 || !strstr(message, parameter))
    wrong++, printf("%%s gives node %%d '%%s', not an error that names it\\n", what, o.node, message);
  weft_graph_destroy(made);
  made = NULL;
  fflush(stdout);
}
int main(void) {
%s
  return wrong != 0;
}
"""


def program(found):
    lines = ['#include "tests/misuse/fixture.h"', "static void call(int i) {", "  switch (i) {"]
    for i, (given, _, _, _, call, expected) in enumerate(found):
        if given == "weft_err":
            body = 'printf("%%d %%s", (int)%s, weft_error_message());' % call
        elif given == "weft_out" and expected == "foreign":
            body = 'weft_out o = %s; printf("%%d %%s", o.node, weft_error_message());' % call
        elif given == "weft_out":
            body = 'weft_out o = %s; printf("%%d %%s", o.node, weft_graph_error(graph) ? weft_error_message() : "");' % call
        elif expected == "fails the node":
            body = ('weft_builder *b = a_builder(); %s; weft_out o = weft_builder_finish(b); '
                    'printf("%%d %%s", o.node, weft_graph_error(graph) ? weft_error_message() : "");' % call)
        elif given == "void" and expected == "foreign":
            body = '%s; printf("%%d %%s", (int)weft_graph_error(a_graph()), weft_error_message());' % call
        elif given == "void":
            body = '%s; printf("0 ");' % call
        else:
            body = 'printf("%%d ", (%s) != 0);' % call
        lines.append("  case %d: { %s break; }" % (i, body))
    return "\n".join(lines + ["  }", "}", MAIN % len(found)])


MAIN = """
/* Each call in a child, which writes what came of it; a line says how the child ended. */
int main(void) {
  for (int i = 0; i < %d; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      freopen("/dev/null", "w", stderr);
      call(i);
      fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("\\x01%%d\\x02", status);
  }
  return 0;
}
"""


def judge(case, code, said):
    given, name, p, wrong, call, expected = case
    if code:
        return "%s: %s = %s ends the process with %d" % (name, p.name, wrong.replace("(%s)" % p.type, ""), code)
    number, _, message = said.partition(" ")
    if expected == "refused" and (number != "3" or p.name not in message):
        return "%s: %s = %s gives %s '%s', not INVALID_ARGUMENT that names it" % (
            name, p.name, wrong.replace("(%s)" % p.type, ""), number, message[:100])
    if expected == "foreign" and (number == "0" or given == "weft_out" and int(number) >= 0 or
                                  "another graph" not in message):
        return "%s: %s of another graph gives %s '%s', not an error that says so" % (name, p.name, number, message[:100])
    if expected == "fails the node" and (int(number) >= 0 or p.name not in message):
        return "%s: %s = %s makes a node or an error that does not name it: '%s'" % (name, p.name, wrong, message[:100])
    if expected == "works" and "'%s' must not be NULL" % p.name in message:
        return "%s: %s may be NULL, and is refused" % (name, p.name)
    if expected == "quiet" and given != "void" and number != "0":
        return "%s: %s = %s does not give 0 or NULL" % (name, p.name, wrong.replace("(%s)" % p.type, ""))
    if expected == "none" and number and int(number) >= 0:
        return "%s: %s = %s gives an output" % (name, p.name, wrong.replace("(%s)" % p.type, ""))
    return None


def compiled(build, folder, name, text):
    source, binary = os.path.join(folder, name + ".c"), os.path.join(folder, name)
    pathlib.Path(source).write_text(text)
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O0", "-w", "-I", str(ROOT), "-I", str(ROOT / "include"), "-I",
                    os.path.join(build, "include"), source, "-o", binary, "-L", os.path.join(build, "lib"), "-lweft",
                    "-Wl,-rpath," + os.path.abspath(os.path.join(build, "lib")), "-lm"], check=True)
    return binary


def wrong_ops(build, folder):
    """(the number of calls, a line for each that is wrong)"""
    calls = list(op_calls(build))
    binary = compiled(build, folder, "ops", OP_PROGRAM % "\n".join(calls))
    done = subprocess.run([binary], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=250, text=True)
    said = done.stdout.splitlines()
    if done.returncode not in (0, 1):
        said.append("a function of ops.h ends the process with %d, after the lines above" % done.returncode)
    return len(calls), said


def main(build):
    found = list(cases())
    with tempfile.TemporaryDirectory() as folder:
        binary = compiled(build, folder, "misuse", program(found))
        n_op_calls, said_of_ops = wrong_ops(build, folder)
        done = subprocess.run([binary], cwd=folder, stdout=subprocess.PIPE, timeout=250, check=True)
        told = done.stdout.decode(errors="replace").split("\x02")[:-1]
        assert len(told) == len(found), (len(told), len(found))
        wrong = []
        for case, text in zip(found, told):
            said, _, status = text.rpartition("\x01")
            said = judge(case, int(status), said)
            if said:
                wrong.append(said)
    wrong += said_of_ops
    for line in wrong:
        print(line)
    print("misuse: %d functions, %d calls; of ops.h %d functions, %d calls; %d wrong" % (
        len(list(functions())), len(found), len(list(op_functions(build))), n_op_calls, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
