/* dtype_test.c - names, sizes, and every 16-bit float there and back. */
#include "tensor/dtype.h"
#include "tensor/small_types.h"
#include "tests/check.h"

TEST(types_know_their_names_and_sizes) {
  EXPECT_EQ_STR(weft__dtype_name(WEFT_FLOAT), "float32");
  EXPECT_EQ_STR(weft__dtype_short(WEFT_FLOAT), "float");
  EXPECT_EQ_STR(weft__dtype_name((weft_dtype)(WEFT_REF_BASE + WEFT_DOUBLE)), "float64_ref");
  EXPECT_EQ_STR(weft__dtype_name((weft_dtype)77), "invalid");
  EXPECT_EQ_INT(weft__dtype_size(WEFT_COMPLEX128), 16);
  EXPECT_EQ_INT(weft__dtype_size(WEFT_STRING), sizeof(str));
  EXPECT_EQ_INT(weft__dtype_size(WEFT_INVALID), 0);
  EXPECT_EQ_INT(weft__dtype_class(WEFT_BFLOAT16), CLASS_FLOAT);
  EXPECT_EQ_INT(weft__dtype_class(WEFT_QUINT8), CLASS_UINT);
}

TEST(every_name_parses_back_to_its_type) {
  for (int i = 1; i < WEFT_DTYPE_COUNT; i++) {
    if (!weft__dtype_is_known(i)) continue;
    const char *name = weft__dtype_name((weft_dtype)i), *brief = weft__dtype_short((weft_dtype)i);
    EXPECT_EQ_INT(weft__dtype_parse(name, strlen(name)), i);
    EXPECT_EQ_INT(weft__dtype_parse(brief, strlen(brief)), i);
    EXPECT(weft__dtype_size((weft_dtype)i) > 0);
  }
  EXPECT_EQ_INT(weft__dtype_parse("int32_ref", 9), WEFT_REF_BASE + WEFT_INT32);
  EXPECT_EQ_INT(weft__dtype_parse("int", 3), WEFT_INVALID);
}

TEST(numbers_between_the_types_are_unknown) {
  for (int i = WEFT_FLOAT8_E4M3FN + 1; i < WEFT_INT4; i++) {
    EXPECT(!weft__dtype_is_known(i));
    EXPECT_EQ_INT(weft__dtype_size((weft_dtype)i), 0);
    EXPECT(strcmp(weft__dtype_name((weft_dtype)i), "invalid") == 0);
  }
  EXPECT(weft__dtype_is_known(WEFT_FLOAT) && weft__dtype_is_known(WEFT_UINT4));
  EXPECT(!weft__dtype_is_known(WEFT_DTYPE_COUNT) && !weft__dtype_is_known(-1) && !weft__dtype_is_known(WEFT_INVALID));
}

TEST(every_float8_survives_the_trip_through_double) {
  const weft_dtype both[] = {WEFT_FLOAT8_E5M2, WEFT_FLOAT8_E4M3FN};
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 256; i++) {
      double x = weft__float8_to_double(both[t], (uint8_t)i);
      if (x == x)
        EXPECT_EQ_INT(weft__float8_from_double(both[t], x), i);
      else
        EXPECT(weft__float8_to_double(both[t], weft__float8_from_double(both[t], x)) != x);
    }
}

TEST(every_half_and_bfloat16_survives_the_trip_through_float) {
  for (unsigned i = 0; i < 65536; i++) {
    uint16_t h = (uint16_t)i;
    float f = weft__half_to_float(h), b = weft__bfloat16_to_float(h);
    if (f == f)
      EXPECT_EQ_INT(weft__half_from_float(f), h);
    else
      EXPECT((weft__half_from_float(f) & 0x7fff) > 0x7c00);
    if (b == b)
      EXPECT_EQ_INT(weft__bfloat16_from_float(b), h);
    else
      EXPECT((weft__bfloat16_from_float(b) & 0x7fff) > 0x7f80);
  }
}

TEST(rounding_to_half_goes_to_nearest_even) {
  static const struct {
    float f;
    uint16_t h;
  } rows[] = {
      {65504, 0x7bff},       {65519.9f, 0x7bff},    {65520, 0x7c00},    {-70000, 0xfc00}, {2049, 0x6800},
      {2051, 0x6802},        {0x1p-24f, 0x0001},    {0x1p-25f, 0x0000}, {0x1.8p-25f, 1},  {0x1.8p-24f, 0x0002},
      {0x1.ff8p-15f, 0x3ff}, {0x1.fffp-15f, 0x400}, {0x1p-14f, 0x0400},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) EXPECT_EQ_INT(weft__half_from_float(rows[i].f), rows[i].h);
  EXPECT_EQ_INT(weft__bfloat16_from_float(0x1.01p0f), 0x3f80);
  EXPECT_EQ_INT(weft__bfloat16_from_float(0x1.03p0f), 0x3f82);
  EXPECT_EQ_INT(weft__bfloat16_from_float(3.4e38f), 0x7f80);
}
