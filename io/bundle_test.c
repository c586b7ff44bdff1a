/* bundle_test.c - tests that bundles come back as written, in slices too, and that damage is noticed. */
#include "io/bundle.h"
#include "io/slices.h"

#include "base/alloc.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <stdio.h>
#include <stdlib.h>

static bytes key(const char *s) { return (bytes){s, strlen(s)}; }

static weft_tensor *floats(shape s, float first) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &s));
  for (int64_t i = 0; i < weft__tensor_count(t); i++) TENSOR_DATA(t, float)[i] = first + (float)i;
  return t;
}

static weft_tensor *words(void) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_create(&t, WEFT_STRING, &SHAPE1(3)));
  EXPECT_OK(weft__str_set(&TENSOR_DATA(t, str)[0], "abc", 3));
  EXPECT_OK(weft__str_set(&TENSOR_DATA(t, str)[2], "a\0b", 3));
  return t;
}

static void save(const char *prefix) {
  bundle_writer *w = NULL;
  weft_tensor *a = floats(SHAPE2(2, 3), 1), *b = words(), *c = floats(SHAPE2(0, 3), 0);
  EXPECT_OK(weft__bundle_create(&w, prefix));
  EXPECT_OK(weft__bundle_add(w, key("w"), a));
  EXPECT_OK(weft__bundle_add(w, key("b/s"), b));
  EXPECT_OK(weft__bundle_add(w, key("empty"), c));
  EXPECT_OK(weft__bundle_finish(w));
  weft__bundle_destroy(w);
  weft_tensor_destroy(a);
  weft_tensor_destroy(b);
  weft_tensor_destroy(c);
}

static weft_tensor *load(const char *prefix, const char *name, const slice *s, weft_err *err) {
  bundle_reader *r = NULL;
  bundle_entry e;
  weft_tensor *t = NULL;
  EXPECT_OK(weft__bundle_open(&r, prefix));
  EXPECT_OK(weft__bundle_find(r, key(name), &e));
  shape part = e.shape;
  if (s) EXPECT_OK(weft__slice_shape(s, &e.shape, &part));
  EXPECT_OK(weft__tensor_create(&t, e.dtype, &part));
  *err = weft__bundle_read(r, key(name), s, t);
  weft__bundle_close(r);
  return t;
}

TEST(a_bundle_gives_back_what_was_written) {
  weft_err err;
  save(test_path("a"));
  weft_tensor *t = load(test_path("a"), "w", NULL, &err);
  EXPECT_OK(err);
  EXPECT_EQ_MEM(t->data, ((float[]){1, 2, 3, 4, 5, 6}), 24);
  weft_tensor_destroy(t);
  t = load(test_path("a"), "b/s", NULL, &err);
  EXPECT_OK(err);
  EXPECT_EQ_INT(TENSOR_DATA(t, str)[2].size, 3);
  EXPECT_EQ_MEM(TENSOR_DATA(t, str)[2].data, "a\0b", 3);
  EXPECT_EQ_INT(TENSOR_DATA(t, str)[1].size, 0);
  weft_tensor_destroy(t);
  slice corner = {2, {1, 1}, {1, 2}};
  t = load(test_path("a"), "w", &corner, &err);
  EXPECT_OK(err);
  EXPECT_EQ_MEM(t->data, ((float[]){5, 6}), 8);
  weft_tensor_destroy(t);
}

TEST(a_missing_key_and_a_missing_bundle_are_named) {
  bundle_reader *r = NULL;
  bundle_entry e;
  save(test_path("m"));
  EXPECT_OK(weft__bundle_open(&r, test_path("m")));
  EXPECT_ERR(weft__bundle_find(r, key("nope"), &e), WEFT_NOT_FOUND, "Key nope not found in checkpoint");
  weft__bundle_close(r);
  EXPECT_ERR(weft__bundle_open(&r, test_path("none")), WEFT_NOT_FOUND, "No such file or directory");
}

TEST(a_name_may_be_saved_once) {
  bundle_writer *w = NULL;
  weft_tensor *t = floats(SHAPE1(1), 0);
  EXPECT_OK(weft__bundle_create(&w, test_path("dup")));
  EXPECT_OK(weft__bundle_add(w, key("w"), t));
  EXPECT_OK(weft__bundle_add(w, key("w"), t));
  EXPECT_ERR(weft__bundle_finish(w), WEFT_INVALID_ARGUMENT, "Adding duplicate key: w");
  weft__bundle_destroy(w);
  weft_tensor_destroy(t);
  path_list left;
  EXPECT_OK(weft__file_match(test_path("dup*"), &left));
  EXPECT_EQ_INT(left.n, 0);
}

static void flip(const char *path, long at) {
  FILE *f = fopen(path, "r+b");
  EXPECT(f != NULL);
  fseek(f, at, SEEK_SET);
  int c = fgetc(f);
  fseek(f, at, SEEK_SET);
  fputc(c ^ 1, f);
  fclose(f);
}

TEST(a_flipped_bit_is_noticed_in_data_and_index) {
  weft_err err;
  bundle_reader *r = NULL;
  save(test_path("f"));
  flip(test_path("f.data-00000-of-00001"), 3);
  weft_tensor *t = load(test_path("f"), "w", NULL, &err);
  EXPECT_ERR(err, WEFT_DATA_LOSS, "f shard 0 (24 bytes at 0): Checksum does not match");
  weft_tensor_destroy(t);
  flip(test_path("f.index"), 5);
  EXPECT_ERR(weft__bundle_open(&r, test_path("f")), WEFT_DATA_LOSS, "f.index: block checksum mismatch (at byte 0)");
}

TEST(every_truncation_of_an_index_is_an_error) {
  text all = {0};
  save(test_path("t"));
  EXPECT_OK(weft__file_read(test_path("t.index"), &all));
  for (size_t n = 0; n < all.size; n++) {
    bundle_reader *r = NULL;
    EXPECT_OK(weft__file_write(test_path("u.index"), all.data, n));
    EXPECT_EQ_INT(weft__bundle_open(&r, test_path("u")), WEFT_DATA_LOSS);
  }
  weft__text_finish(&all);
}

static void save_slices(const char *prefix) {
  bundle_writer *w = NULL;
  weft_tensor *top = floats(SHAPE2(2, 3), 0), *bottom = floats(SHAPE2(2, 3), 6);
  shape full = SHAPE2(4, 3);
  EXPECT_OK(weft__bundle_create(&w, prefix));
  EXPECT_OK(weft__bundle_add_slice(w, key("p"), &full, &(slice){2, {0, 0}, {2, -1}}, top));
  EXPECT_OK(weft__bundle_add_slice(w, key("p"), &full, &(slice){2, {2, 0}, {2, -1}}, bottom));
  EXPECT_OK(weft__bundle_finish(w));
  weft__bundle_destroy(w);
  weft_tensor_destroy(top);
  weft_tensor_destroy(bottom);
}

TEST(slices_are_put_together_and_cut_anew) {
  weft_err err;
  save_slices(test_path("s"));
  weft_tensor *t = load(test_path("s"), "p", NULL, &err);
  EXPECT_OK(err);
  EXPECT_EQ_MEM(t->data, ((float[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), 48);
  weft_tensor_destroy(t);
  t = load(test_path("s"), "p", &(slice){2, {1, 0}, {2, 2}}, &err);
  EXPECT_OK(err);
  EXPECT_EQ_MEM(t->data, ((float[]){3, 4, 6, 7}), 16);
  weft_tensor_destroy(t);
}

TEST(a_tensor_with_a_slice_missing_cannot_be_read_whole) {
  bundle_writer *w = NULL;
  weft_err err;
  weft_tensor *top = floats(SHAPE2(2, 3), 0);
  shape full = SHAPE2(4, 3);
  EXPECT_OK(weft__bundle_create(&w, test_path("h")));
  EXPECT_OK(weft__bundle_add_slice(w, key("p"), &full, &(slice){2, {0, 0}, {2, -1}}, top));
  EXPECT_OK(weft__bundle_finish(w));
  weft__bundle_destroy(w);
  weft_tensor_destroy(top);
  weft_tensor *t = load(test_path("h"), "p", NULL, &err);
  EXPECT_ERR(err, WEFT_INVALID_ARGUMENT, "Does not have sufficient slices for partitioned tensor p");
  weft_tensor_destroy(t);
}

TEST(merging_renames_the_shards_and_removes_the_parts) {
  weft_err err;
  EXPECT_OK(weft__dir_create(test_path("tmp")));
  save(test_path("tmp/part-0"));
  save_slices(test_path("tmp/part-1"));
  char *a = weft__strdup(test_path("tmp/part-0")), *b = weft__strdup(test_path("tmp/part-1"));
  const char *parts[] = {a, b};
  EXPECT_OK(weft__bundle_merge(parts, 2, test_path("all"), true, false));
  EXPECT(weft__file_exists(test_path("all.data-00001-of-00002")));
  EXPECT(!weft__file_exists(test_path("tmp")));
  weft_tensor *t = load(test_path("all"), "w", NULL, &err);
  EXPECT_OK(err);
  weft_tensor_destroy(t);
  t = load(test_path("all"), "p", NULL, &err);
  EXPECT_OK(err);
  EXPECT_NEAR(TENSOR_DATA(t, float)[11], 11, 0);
  weft_tensor_destroy(t);
  EXPECT_ERR(weft__bundle_merge(parts, 2, test_path("again"), true, false), WEFT_INVALID_ARGUMENT, "did not exist");
  weft__free(a);
  weft__free(b);
}

TEST(an_index_of_many_blocks_is_found_in) {
  bundle_writer *w = NULL;
  bundle_reader *r = NULL;
  bundle_entry e;
  char name[100];
  weft_tensor *t = floats(SHAPE1(1), 0);
  EXPECT_OK(weft__bundle_create(&w, test_path("many")));
  for (int i = 0; i < 12000; i++) {
    snprintf(name, sizeof name, "a/rather/long/name/of/a/variable/%d", i * 7919 % 12000);
    EXPECT_OK(weft__bundle_add(w, key(name), t));
  }
  EXPECT_OK(weft__bundle_finish(w));
  weft__bundle_destroy(w);
  EXPECT_OK(weft__bundle_open(&r, test_path("many")));
  for (int i = 0; i < 12000; i += 97) {
    snprintf(name, sizeof name, "a/rather/long/name/of/a/variable/%d", i);
    EXPECT_OK(weft__bundle_find(r, key(name), &e));
  }
  weft__bundle_close(r);
  weft_tensor_destroy(t);
}

TEST(version_one_gives_back_what_was_written) {
  slices_writer *w = NULL;
  slices_reader *r = NULL;
  bundle_entry e;
  shape full = SHAPE2(4, 3);
  weft_tensor *top = floats(SHAPE2(2, 3), 0), *bottom = floats(SHAPE2(2, 3), 6), *s = words(), *t = NULL;
  EXPECT_OK(weft__slices_create(&w, test_path("v1")));
  EXPECT_OK(weft__slices_add(w, key("p"), &full, &(slice){2, {2, 0}, {2, -1}}, bottom));
  EXPECT_OK(weft__slices_add(w, key("p"), &full, &(slice){2, {0, 0}, {2, -1}}, top));
  slice all = weft__slice_full(1);
  EXPECT_OK(weft__slices_add(w, key("s"), &s->shape, &all, s));
  EXPECT_OK(weft__slices_finish(w));
  weft__slices_destroy(w);
  EXPECT_OK(weft__slices_open(&r, test_path("v?")));
  EXPECT_OK(weft__slices_find(r, key("p"), &e));
  EXPECT_OK(weft__tensor_create(&t, e.dtype, &e.shape));
  EXPECT_OK(weft__slices_read(r, key("p"), NULL, t));
  EXPECT_NEAR(TENSOR_DATA(t, float)[11], 11, 0);
  weft_tensor_destroy(t);
  EXPECT_OK(weft__tensor_create(&t, WEFT_STRING, &SHAPE1(3)));
  EXPECT_OK(weft__slices_read(r, key("s"), NULL, t));
  EXPECT_EQ_MEM(TENSOR_DATA(t, str)[0].data, "abc", 3);
  EXPECT_ERR(weft__slices_find(r, key("q"), &e), WEFT_NOT_FOUND, "Tensor name \"q\" not found");
  weft__slices_close(r);
  weft_tensor_destroy(t);
  weft_tensor_destroy(s);
  weft_tensor_destroy(top);
  weft_tensor_destroy(bottom);
  EXPECT_ERR(weft__slices_open(&r, test_path("zz*")), WEFT_NOT_FOUND, "Failed to find any matching files for");
}

TEST(slice_keys_sort_as_their_numbers) {
  text t = {0};
  weft__slice_key(&t, key("w"), &(slice){2, {0, 0}, {100, 10}});
  EXPECT_EQ_INT(t.size, 11);
  EXPECT_EQ_MEM(t.data, "\x00\x77\x00\x01\x01\x02\x80\xc0\x64\x80\x8a", 11);
  weft__text_finish(&t);
  weft__slice_key(&t, key(""), &(slice){2, {-0x800, 0x424242}, {64, -1}});
  EXPECT_EQ_MEM(t.data + t.size - 6, "\x38\x00\xc0\x40\x80\x7f", 6);
  weft__text_finish(&t);
}

TEST(slice_specifications_are_read_as_tensorflow_reads_them) {
  shape full, part;
  slice s;
  char what[64];
  EXPECT_OK(weft__slice_parse("4 3 0,2:-", 9, &full, &s, &part));
  EXPECT_EQ_STR(weft__shape_text(&full), "[4,3]");
  EXPECT_EQ_STR(weft__shape_text(&part), "[2,3]");
  EXPECT_EQ_STR(weft__slice_text(&s, what, sizeof what), "0,2:-");
  EXPECT_ERR(weft__slice_parse("garbage", 7, &full, &s, &part), WEFT_INVALID_ARGUMENT, "Need least two elements");
  EXPECT_ERR(weft__slice_parse("2 3 0,1:2,2", 11, &full, &s, &part), WEFT_INTERNAL,
             "Extent in dimension 1 out of bounds: shape = [2,3], slice = 0,1:2,2");
  EXPECT_ERR(weft__slice_parse("2 x 0,1:2,2", 11, &full, &s, &part), WEFT_INVALID_ARGUMENT, "Non numerical");
}

/* Saves a tensor, a slice and strings.  Returns the first error. */
static weft_err try_save(const char *prefix, const weft_tensor *a, const weft_tensor *b) {
  bundle_writer *w = NULL;
  shape full = SHAPE2(4, 3);
  weft_err err = weft__bundle_create(&w, prefix);
  if (err == WEFT_OK) err = weft__bundle_add(w, key("a"), a);
  if (err == WEFT_OK) err = weft__bundle_add(w, key("b"), b);
  if (err == WEFT_OK) err = weft__bundle_add_slice(w, key("p"), &full, &(slice){2, {0, 0}, {2, -1}}, a);
  if (err == WEFT_OK) err = weft__bundle_finish(w);
  weft__bundle_destroy(w);
  return err;
}

static weft_err try_load(const char *prefix, weft_tensor *a) {
  bundle_reader *r = NULL;
  weft_tensor b = {0};
  weft_err err = weft__bundle_open(&r, prefix);
  if (err == WEFT_OK) err = weft__bundle_read(r, key("a"), NULL, a);
  if (err == WEFT_OK) err = weft__tensor_init(&b, WEFT_STRING, &SHAPE1(3));
  if (err == WEFT_OK) err = weft__bundle_read(r, key("b"), NULL, &b);
  weft__tensor_clear(&b);
  weft__bundle_close(r);
  return err;
}

TEST_WITHIN(60, every_failed_allocation_of_a_save_or_restore_is_an_error) {
  weft_tensor *a = floats(SHAPE2(2, 3), 1), *b = words();
  const char *prefix = test_path("oom");
  weft_err err = WEFT_OOM;
  int failures = 0;
  for (long n = 1; err != WEFT_OK && n < 1000; n++, failures++) {
    weft__alloc_fail_after(n);
    err = try_save(prefix, a, b);
    weft__alloc_fail_after(0);
    if (err != WEFT_OK) EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "");
    if (err != WEFT_OK) EXPECT(!weft__bundle_exists(prefix));
  }
  EXPECT_OK(err);
  EXPECT(failures > 10);
  err = WEFT_OOM;
  for (long n = 1; err != WEFT_OK && n < 1000; n++) {
    weft__alloc_fail_after(n);
    err = try_load(prefix, a);
    weft__alloc_fail_after(0);
    if (err != WEFT_OK) EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "");
  }
  EXPECT_OK(err);
  weft_tensor_destroy(a);
  weft_tensor_destroy(b);
}
