/* scenario.c - checks that a file of ops without cases names tests that run its ops, and that these tests exist.
 *
 * The names are in the row that ends the list (graph/op.h).  A test in C must mention one of the ops.  A test in
 * tests/parity mentions functions of TensorFlow instead; tests/parity/conftest.py checks which ops it runs. */
#include "base/alloc.h"
#include "tests/battery/battery.h"
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* The whole file, to be freed; NULL if it cannot be read. */
static char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  if (!f) return NULL;
  if (fseek(f, 0, SEEK_END) == 0) {
    const long size = ftell(f);
    rewind(f);
    text = size < 0 ? NULL : weft__alloc_zero((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) text[0] = 0;
  }
  fclose(f);
  return text;
}

static bool mentions_op(const char *text, const op *list) {
  for (const op *row = list; row->def; row++) {
    char name[128];
    snprintf(name, sizeof name, "\"%.*s\"", (int)strcspn(row->def, "("), row->def);
    if (strstr(text, name)) return true;
  }
  return false;
}

/* What is wrong with the test at `path` as a scenario of these ops; NULL: nothing. */
static const char *complaint(const char *path, const op *list) {
  const bool is_c = ends_with(path, "_test.c"), is_python = strstr(path, "/test_") && ends_with(path, ".py");
  char *text = read_file(path);
  const char *what = !is_c && !is_python        ? "is neither NAME_test.c nor test_NAME.py"
                     : !text                    ? "cannot be read"
                     : is_python                ? (strstr(text, "def test_") ? NULL : "has no test")
                     : !strstr(text, "TEST(")   ? "has no test"
                     : !mentions_op(text, list) ? "mentions none of the ops"
                                                : NULL;
  weft__free(text);
  return what;
}

/* Complains of each path in the scenario of a row. */
static void ask_row(const char *stem, const op *list, const op *row) {
  for (const char *at = row->scenario; at && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
    char path[256];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at, " "), at);
    const char *what = complaint(path, list);
    if (what) battery_fail_file(stem, "the scenario %s %s", path, what);
  }
}

void ask_scenario(const char *stem, const op *list, bool has_cases) {
  const op *row = list;
  for (; row->def; row++) ask_row(stem, list, row);
  if (!row->scenario && !has_cases)
    battery_fail_file(stem, "no op has a case, and the list's last row names no scenario (graph/op.h)");
  ask_row(stem, list, row);
}
