/* file.c - reads and writes whole files, and lists the files that match a pattern. */
#include "base/alloc.h"
#include "base/array.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "io/confine.h"
#include "io/file.h"
#include "io/file_wait.h"
#include <stdlib.h>

static weft_err path_arg(const kernel *k, int i, const char *what, char **out) {
  if (k->in[i]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input %s tensor must be scalar, but had shape: %s", what,
                             weft__shape_text(&k->in[i]->shape));
  const str *s = TENSOR_DATA(k->in[i], str);
  *out = weft__strndup(s->size ? s->data : "", s->size);
  weft_err err = *out ? weft__path_allowed(*out) : WEFT_OOM;
  if (err != WEFT_OK) weft__free(*out);
  return weft__kernel_in(k, err);
}

static weft_err file_read_cpu(kernel *k) {
  char *path = NULL;
  text t = {0};
  WEFT_TRY(path_arg(k, 0, "filename", &path));
  const file_wait until = {k->step->cancel, k->step->deadline_ns}, *before = weft__file_wait_set(&until);
  weft_err err = weft__file_read(path, &t);
  weft__file_wait_set(before);
  weft_tensor *out = err == WEFT_OK ? weft__out(k, 0, &SHAPE_SCALAR) : NULL;
  if (err == WEFT_OK) err = out ? weft__str_set(TENSOR_DATA(out, str), weft__text_get(&t), t.size) : WEFT_OOM;
  weft__text_finish(&t);
  weft__free(path);
  return weft__kernel_in(k, err);
}

static weft_err write_cpu(kernel *k) {
  char *path = NULL;
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Contents tensor must be scalar, but had shape: %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(path_arg(k, 0, "filename", &path));
  const str *s = TENSOR_DATA(k->in[1], str);
  char *dir = weft__file_dir(path);
  weft_err err = dir ? weft__dir_create_all(dir) : WEFT_OOM;
  if (err == WEFT_OK) err = weft__file_write(path, s->size ? s->data : "", s->size);
  weft__free(dir);
  weft__free(path);
  return weft__kernel_in(k, err);
}

/* ---- patterns ---- */

/* Removes the paths that graphs may not access. */
static void keep_allowed(path_list *l) {
  int n = 0;
  for (int i = 0; i < l->n; i++) {
    if (weft__path_allowed(l->path[i]) == WEFT_OK)
      l->path[n++] = l->path[i];
    else
      weft__free(l->path[i]);
  }
  l->n = n;
}

static weft_err file_join(path_list *all, int64_t *capacity, path_list *more) {
  if (!more->n) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(all->path, *capacity, (int64_t)all->n + more->n));
  memcpy(all->path + all->n, more->path, (size_t)more->n * sizeof *all->path);
  all->n += more->n;
  more->n = 0; /* the strings were moved */
  return WEFT_OK;
}

static int file_by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Adds the paths that match the pattern; `capacity` is that of all->path. */
static weft_err match_one(const str *pattern, path_list *all, int64_t *capacity) {
  path_list found;
  char *p = weft__strndup(pattern->size ? pattern->data : "", pattern->size);
  if (!p) return WEFT_OOM;
  weft_err err = weft__file_match(p, &found);
  if (err == WEFT_OK) {
    keep_allowed(&found);
    err = file_join(all, capacity, &found);
    weft__path_list_finish(&found);
  }
  weft__free(p);
  return err;
}

static weft_err match_cpu(kernel *k) {
  path_list all = {0};
  int64_t capacity = 0;
  weft_err err = WEFT_OK;
  if (k->in[0]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input patterns tensor must be scalar or vector, but had shape: %s",
                             weft__shape_text(&k->in[0]->shape));
  for (int64_t i = 0; err == WEFT_OK && i < weft__tensor_count(k->in[0]); i++)
    err = match_one(&TENSOR_DATA(k->in[0], str)[i], &all, &capacity);
  if (all.n) qsort(all.path, (size_t)all.n, sizeof *all.path, file_by_name);
  weft_tensor *out = err == WEFT_OK ? weft__out(k, 0, &SHAPE1(all.n)) : NULL;
  if (err == WEFT_OK && !out) err = WEFT_OOM;
  for (int i = 0; err == WEFT_OK && i < all.n; i++)
    err = weft__str_set(&TENSOR_DATA(out, str)[i], all.path[i], strlen(all.path[i]));
  weft__path_list_finish(&all);
  return weft__kernel_in(k, err);
}

/* ---- shape rules and table ---- */

static weft_err scalars_infer(infer *s) {
  for (int i = 0; i < s->n_in; i++)
    if (s->in[i].rank > 0) return weft__infer_fail(s, "Shape must be rank 0 but is rank %d", s->in[i].rank);
  if (s->n_out) s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err match_infer(infer *s) {
  if (s->in[0].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[0].rank);
  s->out[0] = SHAPE1(-1);
  return WEFT_OK;
}

static const op_case read_cases[] = {
    {"str[] \"LICENSE\"", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[] \"no such file\"", "error NOT_FOUND", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[1] \"LICENSE\"", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case match_cases[] = {
    {"str[] \"proto/t*.proto\"", "str[1] \"proto/tf.proto\"", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[2] \"no/such/*\" \"proto/tf.[p]*\"", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[] \"no/such/*\"", "str[0] \"\"", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[1,1] \"a\"", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

/* No file system of Weft has settings, nor has one of TensorFlow's wheels. */
static weft_err configure_cpu(kernel *k) {
  static const char *const names[] = {"scheme", "key", "value"};
  for (int i = 0; i < 3; i++)
    if (k->in[i]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be scalar, got shape %s", names[i],
                               weft__shape_text(&k->in[i]->shape));
  char *scheme = weft__kernel_strdup(k, 0);
  if (!scheme) return WEFT_OOM;
  const weft_err err =
      weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "File system scheme '%s' not found to set configuration", scheme);
  weft__free(scheme);
  return err;
}

static const op_case configure_cases[] = {
    {"str[] \"s3\"; str[] \"a\"; str[] \"b\"", "error UNIMPLEMENTED", NULL, 0},
    {"str[1] \"s3\"; str[] \"a\"; str[] \"b\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(file) = {
    {"ReadFile(filename:string) -> (contents:string)", "All of a file.", .flags = OP_NO_FOLD, .infer = scalars_infer,
     .cpu = file_read_cpu, .cases = read_cases},
    {"WriteFile(filename:string, contents:string) -> () ; stateful", "Writes a file, making its directories.",
     .infer = scalars_infer, .cpu = write_cpu},
    {"MatchingFiles(pattern:string) -> (filenames:string)", "The files that match one of the patterns, sorted.",
     .flags = OP_NO_FOLD, .infer = match_infer, .cpu = match_cpu, .cases = match_cases},
    {"FileSystemSetConfiguration(scheme:string, key:string, value:string) -> () ; stateful",
     "Sets an option of a file system.", .infer = weft__infer_none, .cpu = configure_cpu, .cases = configure_cases},
    {0},
};
