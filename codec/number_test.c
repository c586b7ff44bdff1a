/* number_test.c - numbers are read as the C library reads them, and only in the forms that TensorFlow accepts. */
#include "codec/number.h"
#include "tests/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_as(const char *s, weft_dtype type, void *out) {
  text room = {0};
  const bool good = weft__number_read(&room, s, strlen(s), type, out);
  weft__text_finish(&room);
  return good;
}

static void expect_as_c(const char *s) {
  float f = 0, want_f = strtof(s, NULL);
  double d = 0, want_d = strtod(s, NULL);
  if (!read_as(s, WEFT_FLOAT, &f) || memcmp(&f, &want_f, sizeof f) != 0)
    FAIL("%s as a float is %a, not %a", s, (double)f, (double)want_f);
  if (!read_as(s, WEFT_DOUBLE, &d) || memcmp(&d, &want_d, sizeof d) != 0)
    FAIL("%s as a double is %a, not %a", s, d, want_d);
}

TEST(decimals_are_rounded_as_by_the_c_library) {
  static const char *const some[] = {"0",
                                     "-0",
                                     "-0.0",
                                     "5",
                                     "+5",
                                     ".5",
                                     "5.",
                                     "-.25",
                                     "16777216",
                                     "16777217",
                                     "16777219",
                                     "0.1",
                                     "3.1415927",
                                     "1e10",
                                     "1.5e-40",
                                     "123456789012345",
                                     "1234567890123456",
                                     "0.00000000001",
                                     "9007199254740993",
                                     "00000000000000000001.5",
                                     "4503599627370497.5"};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) expect_as_c(some[i]);
  uint64_t state = 3;
  for (int i = 0; i < 20000; i++) {
    char s[64];
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned long long whole = (state >> 20) % 100000000u, part = (state >> 7) % 100000000u;
    snprintf(s, sizeof s, "%s%llu.%0*llu", state & 1 ? "-" : "", whole >> (state >> 60), 1 + i % 8, part);
    expect_as_c(s);
  }
}

TEST(integers_are_read_exactly_and_checked_for_their_range) {
  int32_t i = 0;
  int64_t l = 0;
  EXPECT(read_as(" -2147483648 ", WEFT_INT32, &i));
  EXPECT_EQ_INT(i, INT32_MIN);
  EXPECT(!read_as("2147483648", WEFT_INT32, &i));
  EXPECT(read_as("-999999999999999", WEFT_INT64, &l));
  EXPECT_EQ_INT(l, -999999999999999);
  EXPECT(read_as("9223372036854775807", WEFT_INT64, &l));
  EXPECT_EQ_INT(l, INT64_MAX);
  EXPECT(!read_as("9223372036854775808", WEFT_INT64, &l));
}

TEST(other_forms_are_refused) {
  static const char *const wrong[] = {"",    " ",  "-",   "+",  ".",  "-.", "1.2.3",
                                      "1 2", "1x", "--1", "1-", "e5", "1e", "\xff"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    double d;
    int64_t l;
    if (read_as(wrong[i], WEFT_DOUBLE, &d)) FAIL("'%s' was read as a double", wrong[i]);
    if (read_as(wrong[i], WEFT_INT64, &l)) FAIL("'%s' was read as an integer", wrong[i]);
  }
  static const char *const no_int[] = {"+5", "5.", "5.0", "1e3"};
  for (size_t i = 0; i < sizeof no_int / sizeof *no_int; i++) {
    int64_t l;
    if (read_as(no_int[i], WEFT_INT64, &l)) FAIL("'%s' was read as an integer", no_int[i]);
  }
}
