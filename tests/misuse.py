#!/usr/bin/env python3
"""misuse.py BUILD: calls every function of the public headers with NULL for each pointer, with negative counts, and with
outputs of another graph.

A parameter that is required (not marked WEFT_OPTIONAL) makes a function that returns weft_err say INVALID_ARGUMENT and
name the parameter; one that returns a weft_out gives WEFT_NONE, a getter 0 or NULL.  Nothing ever crashes.  An output of
another graph is refused with a message that says so.
The calls are written here from the headers, compiled, and run, each in a process of its own.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ("core", "train", "cluster", "supervise", "function")
MAKERS = {"weft_graph": "a_graph()", "weft_session": "a_session()", "weft_tensor": "a_tensor()", "weft_node": "a_node()",
          "weft_builder": "a_builder()", "weft_replica": "a_replica()", "weft_variable_scope": "a_variable_scope()",
          "weft_optimizer": "an_optimizer()", "weft_average": "an_average()", "weft_sync": "a_sync()",
          "weft_saver": "a_saver()", "weft_event_writer": "a_writer()", "weft_coordinator": "a_coordinator()",
          "weft_cluster": "a_cluster()", "weft_server": "a_server()", "weft_supervisor": "a_supervisor()",
          "weft_hook": "a_hook()", "weft_devices": "some_devices()", "weft_samples": "some_samples()",
          "weft_partial_run": "a_partial_run()", "weft_callable": "a_callable()",
          "weft_record_writer": "a_record_writer()", "weft_saved_model": "a_saved_model()",
          "weft_parked": "weft_scope_park(a_graph(), 0)", "weft_checkpoint": "a_checkpoint()", "weft_checkpoint_state": "a_checkpoint_state()"}
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
            if wrong is None or name.endswith(("_destroy", "_close")) and p.pointer and i == 0:
                continue
            values = [wrong if j == i else q.value() for j, q in enumerate(params)]
            expected = "works" if p.optional else {"weft_err": "refused", "weft_out": "none"}.get(given, "quiet")
            yield given, name, p, wrong, "%s(%s)" % (name, ", ".join(values)), expected
        yield from foreign_cases(given, name, params)


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


def program(found):
    lines = ['#include "tests/misuse/fixture.h"', "static void call(int i) {", "  switch (i) {"]
    for i, (given, _, _, _, call, expected) in enumerate(found):
        if given == "weft_err":
            body = 'printf("%%d %%s", (int)%s, weft_error_message());' % call
        elif given == "weft_out" and expected == "foreign":
            body = 'weft_out o = %s; printf("%%d %%s", o.node, weft_error_message());' % call
        elif given == "weft_out":
            body = 'weft_out o = %s; printf("%%d %%s", o.node, weft_graph_error(graph) ? weft_error_message() : "");' % call
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
    if expected == "works" and "'%s' must not be NULL" % p.name in message:
        return "%s: %s may be NULL, and is refused" % (name, p.name)
    if expected == "quiet" and given != "void" and number != "0":
        return "%s: %s = %s does not give 0 or NULL" % (name, p.name, wrong.replace("(%s)" % p.type, ""))
    if expected == "none" and number and int(number) >= 0:
        return "%s: %s = %s gives an output" % (name, p.name, wrong.replace("(%s)" % p.type, ""))
    return None


def main(build):
    found = list(cases())
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "misuse.c"), os.path.join(folder, "misuse")
        pathlib.Path(source).write_text(program(found))
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O0", "-w", "-I", str(ROOT), "-I", str(ROOT / "include"), "-I",
                        os.path.join(build, "include"), source, "-o", binary, "-L", os.path.join(build, "lib"), "-lweft",
                        "-Wl,-rpath," + os.path.abspath(os.path.join(build, "lib")), "-lm"], check=True)
        done = subprocess.run([binary], cwd=folder, stdout=subprocess.PIPE, timeout=250, check=True)
        told = done.stdout.decode(errors="replace").split("\x02")[:-1]
        assert len(told) == len(found), (len(told), len(found))
        wrong = []
        for case, text in zip(found, told):
            said, _, status = text.rpartition("\x01")
            said = judge(case, int(status), said)
            if said:
                wrong.append(said)
    for line in wrong:
        print(line)
    print("misuse: %d functions, %d calls, %d wrong" % (len(list(functions())), len(found), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
