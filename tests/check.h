/* check.h - tests as sentences, on top of Check.
 *
 *     #include "tests/check.h"
 *     TEST(a_missing_key_gives_null) {
 *       map m = {0};
 *       EXPECT(weft__map_get(&m, "x") == NULL);
 *     }
 *
 * A test registers itself; tests/main.c runs each in a process of its own with a time limit
 * (10 s; TEST_WITHIN(seconds, name) asks for more).  An expectation prints both values and ends
 * the test.  A floor's tests are one program.  Run the tests of base/map_test.c: build/tests/base base.map.
 * Run one of them: build/tests/base base.map a_missing_key_gives_null. */
#ifndef WEFT_TESTS_CHECK_H
#define WEFT_TESTS_CHECK_H

#include "weft/core.h"
#include <check.h>
#include <math.h>
#include <string.h>

typedef struct test_entry {
  const char *group; /* FLOOR.thing, from CMake, for the tests of thing_test.c */
  const TTest *test;
  double seconds;
  struct test_entry *next;
} test_entry;
void test_add(test_entry *e);

#define TEST_WITHIN(limit, name)                                                                                       \
  static void name##_run(int loop);                                                                                    \
  __attribute__((constructor)) static void name##_add(void) {                                                          \
    static const TTest test = {#name, name##_run, __FILE__, __LINE__};                                                 \
    static test_entry entry = {TEST_GROUP, &test, limit, NULL};                                                        \
    test_add(&entry);                                                                                                  \
  }                                                                                                                    \
  static void name##_run(int loop __attribute__((unused)))
#define TEST(name) TEST_WITHIN(10, name)

/* Ends the test with a message of its own. */
#define FAIL(...) _ck_assert_failed(__FILE__, __LINE__, "Failed", __VA_ARGS__)

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (condition)                                                                                                     \
      mark_point();                                                                                                    \
    else                                                                                                               \
      FAIL("expected %s", #condition);                                                                                 \
  } while (0)
#define EXPECT_OK(expr) test_expect_ok(__FILE__, __LINE__, #expr, (expr))
/* The call fails with this code and a message that contains `part`. */
#define EXPECT_ERR(expr, code, part) test_expect_err(__FILE__, __LINE__, #expr, (expr), (code), (part))
#define EXPECT_EQ_INT(a, b) test_expect_int(__FILE__, __LINE__, #a " == " #b, (int64_t)(a), (int64_t)(b))
#define EXPECT_EQ_STR(a, b) test_expect_str(__FILE__, __LINE__, #a " == " #b, (a), (b))
#define EXPECT_EQ_MEM(a, b, size) test_expect_mem(__FILE__, __LINE__, #a " == " #b, (a), (b), (size))
/* |a - b| <= tolerance; NaN is near NaN, and an infinity only to itself. */
#define EXPECT_NEAR(a, b, tolerance) test_expect_near(__FILE__, __LINE__, #a " ~ " #b, (a), (b), (tolerance))
#define EXPECT_CONTAINS(s, part) test_expect_contains(__FILE__, __LINE__, #s, (s), (part))

void test_expect_ok(const char *file, int line, const char *what, weft_err err);
void test_expect_err(const char *file, int line, const char *what, weft_err err, weft_err code, const char *part);
void test_expect_int(const char *file, int line, const char *what, int64_t a, int64_t b);
void test_expect_str(const char *file, int line, const char *what, const char *a, const char *b);
void test_expect_mem(const char *file, int line, const char *what, const void *a, const void *b, size_t size);
void test_expect_near(const char *file, int line, const char *what, double a, double b, double tolerance);
void test_expect_contains(const char *file, int line, const char *what, const char *s, const char *part);

#endif
