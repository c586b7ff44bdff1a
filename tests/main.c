/* main.c - runs the tests that registered themselves, each in its own process with a time limit.
 *
 * The functions of check.h and scratch.h live here too, so that a test file compiles quickly and a failure is
 * told the same way everywhere. */
#include "tests/check.h"
#include "base/sanitizer.h"
#include "base/status.h"
#include "tests/scratch.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static test_entry *first, **last = &first;

void test_add(test_entry *e) {
  *last = e;
  last = &e->next;
}

/* Not weft_error_name: the tests of a low floor are linked without api/. */
static const char *error_name(weft_err err) {
  static const char *const names[] = {
#define NAME(name, number) #name,
      WEFT_ERRORS(NAME)
#undef NAME
  };
  return (unsigned)err < sizeof names / sizeof names[0] ? names[err] : "an unknown code";
}

static const char *or_null(const char *s) { return s ? s : "(null)"; }

#define FAIL_AT(...) _ck_assert_failed(file, line, "Failed", __VA_ARGS__)

void test_expect_ok(const char *file, int line, const char *what, weft_err err) {
  if (err != WEFT_OK) FAIL_AT("%s gave %s: %s", what, error_name(err), weft__error_message());
  mark_point();
}

void test_expect_err(const char *file, int line, const char *what, weft_err err, weft_err code, const char *part) {
  if (err != code)
    FAIL_AT("%s gave %s, expected %s; message: %s", what, error_name(err), error_name(code),
            err == WEFT_OK ? "" : weft__error_message());
  if (code != WEFT_OK && !strstr(weft__error_message(), part))
    FAIL_AT("%s: message \"%s\" has no \"%s\"", what, weft__error_message(), part);
  mark_point();
}

void test_expect_int(const char *file, int line, const char *what, int64_t a, int64_t b) {
  if (a != b) FAIL_AT("%s: %lld and %lld", what, (long long)a, (long long)b);
  mark_point();
}

void test_expect_str(const char *file, int line, const char *what, const char *a, const char *b) {
  if (a != b && (!a || !b || strcmp(a, b) != 0)) FAIL_AT("%s: \"%s\" and \"%s\"", what, or_null(a), or_null(b));
  mark_point();
}

void test_expect_mem(const char *file, int line, const char *what, const void *a, const void *b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < size; i++)
    if (x[i] != y[i]) FAIL_AT("%s: byte %zu of %zu is 0x%02x and 0x%02x", what, i, size, x[i], y[i]);
  mark_point();
}

void test_expect_near(const char *file, int line, const char *what, double a, double b, double tolerance) {
  bool same = a == b || (isnan(a) && isnan(b));
  if (!same && !(fabs(a - b) <= tolerance)) FAIL_AT("%s: %.17g and %.17g, tolerance %g", what, a, b, tolerance);
  mark_point();
}

void test_expect_contains(const char *file, int line, const char *what, const char *s, const char *part) {
  if (!s || !strstr(s, part)) FAIL_AT("%s: \"%s\" has no \"%s\"", what, or_null(s), part);
  mark_point();
}

static char folder[] = "/tmp/weft-test-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st, (void)type, (void)at;
  return remove(path);
}
static void remove_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

const char *test_path(const char *name) {
  static char room[8][256];
  static int turn;
  if (turn == 0) {
    if (!mkdtemp(folder)) FAIL("cannot make %s", folder);
    atexit(remove_folder);
  }
  char *path = room[turn++ % 8];
  snprintf(path, sizeof room[0], "%s/%s", folder, name);
  return path;
}

/* The arguments are a group, then names of tests in it; without names all of the group, without a group all. */
static bool is_wanted(const test_entry *e, int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], e->group) != 0) return false;
  if (argc <= 2) return true;
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], e->test->name) == 0) return true;
  return false;
}

/* A sanitizer's build takes several times as long. */
#ifdef WEFT_SANITIZED
enum { SLOWNESS = 3 };
#else
enum { SLOWNESS = 1 };
#endif

/* Gives the number of tests added. */
static int add_tests(Suite *suite, int argc, char **argv) {
  int added = 0;
  for (test_entry *e = first; e; e = e->next) {
    if (!is_wanted(e, argc, argv)) continue;
    TCase *group = tcase_create(e->test->name);
    tcase_set_timeout(group, e->seconds * SLOWNESS);
    tcase_add_test(group, e->test);
    suite_add_tcase(suite, group);
    added++;
  }
  return added;
}

/* Told when no test is wanted: what can be asked for. */
static void print_usage(const char *program) {
  fprintf(stderr, "usage: %s [GROUP [TEST...]]\ngroups:\n", program);
  const char *before = "";
  for (test_entry *e = first; e; e = e->next) {
    if (strcmp(e->group, before) != 0) fprintf(stderr, "  %s\n", e->group);
    before = e->group;
  }
}

int main(int argc, char **argv) {
  Suite *suite = suite_create(argc > 1 ? argv[1] : argv[0]);
  SRunner *runner = srunner_create(suite);
  if (add_tests(suite, argc, argv) == 0) {
    fprintf(stderr, "%s: no test%s\n", argv[0], argc < 2 ? "" : " of that name");
    print_usage(argv[0]);
    return 2;
  }
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
