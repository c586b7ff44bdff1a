/* checkpoint.c - saves and restores tensors: bundles (V2), tables of slices (V1), and the names of shards.
 *
 * A file is written completely or not at all (io/bundle.h).  If a V2 prefix has no index file, a restore looks for
 * V1 files of that name, as TensorFlow does. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/progress.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "io/bundle.h"
#include "io/confine.h"
#include "io/slices.h"
#include <stdio.h>

static bytes str_bytes(const str *s) { return (bytes){s->size ? s->data : "", s->size}; }

/* Returns argument i, a scalar string, as a C string that the caller owns. */
static weft_err path_arg(const kernel *k, int i, const char *arg, char **out) {
  if (weft__tensor_count(k->in[i]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s should have a single element, got shape %s instead.", arg,
                             weft__shape_text(&k->in[i]->shape));
  bytes b = str_bytes(&TENSOR_DATA(k->in[i], str)[0]);
  *out = weft__strndup(b.data, b.size);
  weft_err err = *out ? weft__path_allowed(*out) : WEFT_OOM;
  if (err != WEFT_OK) weft__free(*out);
  return weft__kernel_in(k, err);
}

/* Checks that there are as many names, and as many slice specifications if the op has them, as tensors. */
static weft_err check_lists(const kernel *k, int names, int specs, int64_t tensors) {
  if (k->in[names]->shape.rank > 1 || (specs >= 0 && k->in[specs]->shape.rank > 1))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input tensor_names should be an 1-D tensor, got %s instead.",
                             weft__shape_text(&k->in[names]->shape));
  int64_t n = weft__tensor_count(k->in[names]), m = specs >= 0 ? weft__tensor_count(k->in[specs]) : n;
  if (n != m)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "tensor_names and shape_and_slices have different number of elements: %lld vs. %lld",
                             (long long)n, (long long)m);
  if (n != tensors)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Got %lld tensor names but %lld tensors.", (long long)n,
                             (long long)tensors);
  return WEFT_OK;
}

/* ---- saving ---- */

/* The functions that write a file, so that one loop serves both versions. */
typedef struct saver {
  bundle_writer *bundle;
  slices_writer *slices;
} saver;

static weft_err save_one(const saver *s, bytes name, bytes spec, const weft_tensor *t) {
  shape full = t->shape, part = t->shape;
  slice where = weft__slice_full(t->shape.rank);
  if (spec.size) {
    WEFT_TRY(weft__slice_parse(spec.data, spec.size, &full, &where, &part));
    if (!weft__shape_equal(&part, &t->shape))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Slice in shape_and_slice specification does not match the shape of the tensor to  save: "
                        "%.*s, tensor: %s",
                        weft__int_sat(spec.size), spec.data, weft__shape_text(&t->shape));
  }
  if (s->slices) return weft__slices_add(s->slices, name, &full, &where, t);
  return spec.size ? weft__bundle_add_slice(s->bundle, name, &full, &where, t) : weft__bundle_add(s->bundle, name, t);
}

static weft_err save_all(const kernel *k, const saver *s, const char *path, int specs) {
  int first = specs >= 0 ? 3 : 2;
  progress p = {0};
  for (int i = first; i < k->n_in; i++) {
    bytes name = str_bytes(&TENSOR_DATA(k->in[1], str)[i - first]), spec = {"", 0};
    if (specs >= 0) spec = str_bytes(&TENSOR_DATA(k->in[specs], str)[i - first]);
    WEFT_TRY(save_one(s, name, spec, k->in[i]));
    weft__progress_log(&p, path, (uint64_t)(i - first) + 1, (uint64_t)(k->n_in - first), "tensors saved");
    if (weft__cancel_fired(k->step->cancel)) return weft__cancel_raise(k->step->cancel);
  }
  return WEFT_OK;
}

static weft_err save_v2_cpu(kernel *k) {
  char *prefix = NULL;
  saver s = {0};
  WEFT_TRY(check_lists(k, 1, 2, k->n_in - 3));
  WEFT_TRY(path_arg(k, 0, "prefix", &prefix));
  weft_err err = weft__bundle_create(&s.bundle, prefix);
  if (err == WEFT_OK) err = save_all(k, &s, prefix, 2);
  if (err == WEFT_OK) err = weft__bundle_finish(s.bundle);
  weft__bundle_destroy(s.bundle);
  weft__free(prefix);
  return weft__kernel_in(k, err);
}

static weft_err save_v1(kernel *k, int specs) {
  char *path = NULL;
  saver s = {0};
  WEFT_TRY(check_lists(k, 1, specs, k->n_in - (specs >= 0 ? 3 : 2)));
  WEFT_TRY(path_arg(k, 0, "filename", &path));
  weft_err err = weft__slices_create(&s.slices, path);
  if (err == WEFT_OK) err = save_all(k, &s, path, specs);
  if (err == WEFT_OK) err = weft__slices_finish(s.slices);
  weft__slices_destroy(s.slices);
  weft__free(path);
  return weft__kernel_in(k, err);
}

static weft_err checkpoint_save_cpu(kernel *k) { return save_v1(k, -1); }
static weft_err save_slices_cpu(kernel *k) { return save_v1(k, 2); }

static weft_err checkpoint_merge_cpu(kernel *k) {
  char *to = NULL;
  int64_t n = weft__tensor_count(k->in[0]);
  WEFT_TRY(weft__kernel_vector(k, 0, "checkpoint_prefixes"));
  WEFT_TRY(path_arg(k, 1, "destination_prefix", &to));
  char **part = weft__alloc_zero((size_t)n + 1, sizeof *part);
  weft_err err = part ? WEFT_OK : WEFT_OOM;
  for (int64_t i = 0; err == WEFT_OK && i < n; i++) {
    bytes b = str_bytes(&TENSOR_DATA(k->in[0], str)[i]);
    err = (part[i] = weft__strndup(b.data, b.size)) ? weft__path_allowed(part[i]) : WEFT_OOM;
  }
  if (err == WEFT_OK)
    err = weft__bundle_merge((const char *const *)part, weft__int_sat(n), to,
                             weft__node_bool(k->node, "delete_old_dirs", true),
                             weft__node_bool(k->node, "allow_missing_files", false));
  for (int64_t i = 0; part && i < n; i++) weft__free(part[i]);
  weft__free(part);
  weft__free(to);
  return weft__kernel_in(k, err);
}

/* ---- restoring ---- */

typedef struct restorer {
  bundle_reader *bundle;
  slices_reader *slices;
} restorer;

static weft_err restorer_open(restorer *r, const char *prefix, bool may_be_bundle) {
  *r = (restorer){0};
  return may_be_bundle && weft__bundle_exists(prefix) ? weft__bundle_open(&r->bundle, prefix)
                                                      : weft__slices_open(&r->slices, prefix);
}

static void restorer_close(restorer *r) {
  weft__bundle_close(r->bundle);
  weft__slices_close(r->slices);
}

static weft_err checkpoint_find(const restorer *r, bytes name, bundle_entry *e) {
  return r->bundle ? weft__bundle_find(r->bundle, name, e) : weft__slices_find(r->slices, name, e);
}

static weft_err checkpoint_check_type(const restorer *r, bytes name, weft_dtype want, const bundle_entry *e) {
  if (e->dtype == want) return WEFT_OK;
  if (r->bundle)
    return weft__fail(WEFT_INVALID_ARGUMENT, "tensor_name = %.*s; expected dtype %s does not equal original dtype %s",
                      weft__int_sat(name.size), name.data, weft__dtype_short(want), weft__dtype_short(e->dtype));
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Expected to restore a tensor of type %s, got a tensor of type %s instead: tensor_name = %.*s",
                    weft__dtype_short(want), weft__dtype_short(e->dtype), weft__int_sat(name.size), name.data);
}

static weft_err restore_one(kernel *k, const restorer *r, int i, bytes name, bytes spec) {
  bundle_entry e;
  shape full, part;
  slice where;
  WEFT_TRY(checkpoint_find(r, name, &e));
  WEFT_TRY(checkpoint_check_type(r, name, k->node->out_type[i], &e));
  part = e.shape;
  if (spec.size) {
    WEFT_TRY(weft__slice_parse(spec.data, spec.size, &full, &where, &part));
    if (!weft__shape_equal(&full, &e.shape))
      return r->bundle
                 ? weft__fail(WEFT_INVALID_ARGUMENT,
                              "tensor_name = %.*s; shape in shape_and_slice spec %s does not match the shape stored in "
                              "checkpoint: %s",
                              weft__int_sat(name.size), name.data, weft__shape_text(&full), weft__shape_text(&e.shape))
                 : weft__fail(WEFT_INVALID_ARGUMENT,
                              "Shape in shape_and_slice spec does not match the shape in the save file: %s, save file "
                              "shape: %s",
                              weft__shape_text(&full), weft__shape_text(&e.shape));
  }
  weft_tensor *out = weft__out(k, i, &part);
  if (!out) return WEFT_OOM;
  const slice *s = spec.size ? &where : NULL;
  return r->bundle ? weft__bundle_read(r->bundle, name, s, out) : weft__slices_read(r->slices, name, s, out);
}

/* Restores all tensors.  If specs < 0, they are whole tensors, not slices. */
static weft_err restore_all(kernel *k, int specs, bool may_be_bundle) {
  char *prefix = NULL;
  restorer r;
  progress p = {0};
  WEFT_TRY(check_lists(k, 1, specs, k->n_out));
  WEFT_TRY(path_arg(k, 0, "prefix", &prefix));
  weft_err err = restorer_open(&r, prefix, may_be_bundle);
  for (int i = 0; err == WEFT_OK && i < k->n_out; i++) {
    bytes name = str_bytes(&TENSOR_DATA(k->in[1], str)[i]), spec = {"", 0};
    if (specs >= 0) spec = str_bytes(&TENSOR_DATA(k->in[specs], str)[i]);
    err = restore_one(k, &r, i, name, spec);
    weft__progress_log(&p, prefix, (uint64_t)i + 1, (uint64_t)k->n_out, "tensors restored");
    if (err == WEFT_OK && weft__cancel_fired(k->step->cancel)) err = weft__cancel_raise(k->step->cancel);
  }
  restorer_close(&r);
  weft__free(prefix);
  return weft__kernel_in(k, err);
}

static weft_err restore_v2_cpu(kernel *k) { return restore_all(k, 2, true); }
static weft_err restore_cpu(kernel *k) { return restore_all(k, -1, false); }
static weft_err restore_slice_cpu(kernel *k) { return restore_all(k, 2, false); }

/* ---- names of shards ---- */

static weft_err shard_name(kernel *k, bool one) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "basename"));
  WEFT_TRY(weft__kernel_scalar(k, 1, one ? "shard" : "num_shards"));
  if (one) WEFT_TRY(weft__kernel_scalar(k, 2, "num_shards"));
  bytes base = str_bytes(&TENSOR_DATA(k->in[0], str)[0]);
  int64_t first = weft__tensor_int(k->in[1], 0), second = one ? weft__tensor_int(k->in[2], 0) : 0;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  char *name = one ? weft__sprintf("%.*s-%05lld-of-%05lld", weft__int_sat(base.size), base.data, (long long)first,
                                   (long long)second)
                   : weft__sprintf("%.*s-\?\?\?\?\?-of-%05lld", weft__int_sat(base.size), base.data, (long long)first);
  weft_err err = out && name ? weft__str_set(&TENSOR_DATA(out, str)[0], name, strlen(name)) : WEFT_OOM;
  weft__free(name);
  return err;
}

static weft_err filename_cpu(kernel *k) { return shard_name(k, true); }
static weft_err filespec_cpu(kernel *k) { return shard_name(k, false); }

/* ---- shape rules ---- */

/* Takes the output shapes from constant slice specifications. */
static weft_err restore_infer(infer *s) {
  shape merged, full, part;
  slice where;
  if (s->n_in < 3) return WEFT_OK;
  if (s->in[1].rank == 1 && s->in[2].rank == 1 && weft__shape_merge(&merged, &s->in[1], &s->in[2]) != WEFT_OK)
    return weft__infer_fail(s, "%s", weft__error_message());
  const weft_tensor *specs = weft__infer_value(s, 2);
  for (int i = 0; specs && i < s->n_out && i < weft__tensor_count(specs); i++) {
    bytes spec = str_bytes(&TENSOR_DATA(specs, str)[i]);
    if (!spec.size) continue;
    if (weft__slice_parse(spec.data, spec.size, &full, &where, &part) != WEFT_OK)
      return weft__infer_fail(s, "%s", weft__error_message());
    s->out[i] = part;
  }
  return WEFT_OK;
}

static weft_err scalars_infer(infer *s) {
  for (int i = 0; i < s->n_in; i++)
    if (s->in[i].rank > 0) return weft__infer_fail(s, "Shape must be rank 0 but is rank %d", s->in[i].rank);
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

static const op_case filename_cases[] = {
    {"str[] \"a/b\"; i32[] 3; i32[] 10", "str[] \"a/b-00003-of-00010\"", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[] \"\"; i32[] 0; i32[] 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"str[1] \"a\"; i32[] 0; i32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case filespec_cases[] = {
    {"str[] \"a/b\"; i32[] 10", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(checkpoint) = {
    {"SaveV2(prefix:string, tensor_names:string, shape_and_slices:string, tensors:@dtypes) -> () | "
     "dtypes:list(type)>=1 ; stateful",
     "Writes tensors, or slices of them, as a bundle.", .infer = weft__infer_none, .cpu = save_v2_cpu, .amp = AMP_DENY},
    {"RestoreV2(prefix:string, tensor_names:string, shape_and_slices:string) -> (tensors:@dtypes) | "
     "dtypes:list(type)>=1 ; stateful",
     "Reads tensors, or slices of them, from a checkpoint.", .infer = restore_infer, .cpu = restore_v2_cpu},
    {"MergeV2Checkpoints(checkpoint_prefixes:string, destination_prefix:string) -> () | delete_old_dirs:bool=true "
     "allow_missing_files:bool=false ; stateful",
     "Makes one bundle of several.", .infer = weft__infer_none, .cpu = checkpoint_merge_cpu},
    {"Save(filename:string, tensor_names:string, data:@T) -> () | T:list(type)>=1 ; stateful",
     "Writes tensors to a file of version 1.", .infer = weft__infer_none, .cpu = checkpoint_save_cpu},
    {"SaveSlices(filename:string, tensor_names:string, shapes_and_slices:string, data:@T) -> () | T:list(type)>=1 ; "
     "stateful",
     "Writes slices of tensors to a file of version 1.", .infer = weft__infer_none, .cpu = save_slices_cpu},
    {"Restore(file_pattern:string, tensor_name:string) -> (tensor:dt) | dt:type preferred_shard:int=-1 ; stateful",
     "Reads a tensor from files of version 1.", .infer = weft__infer_none, .cpu = restore_cpu, .narrow = NARROW_ALL},
    {"RestoreSlice(file_pattern:string, tensor_name:string, shape_and_slice:string) -> (tensor:dt) | dt:type "
     "preferred_shard:int=-1 ; stateful",
     "Reads a slice of a tensor from files of version 1.", .infer = restore_infer, .cpu = restore_slice_cpu,
     .narrow = NARROW_ALL},
    {"ShardedFilename(basename:string, shard:int32, num_shards:int32) -> (filename:string)",
     "The name of one shard of a file.", .infer = scalars_infer, .cpu = filename_cpu, .cases = filename_cases},
    {"ShardedFilespec(basename:string, num_shards:int32) -> (filename:string)", "The pattern of all shards of a file.",
     .infer = scalars_infer, .cpu = filespec_cpu, .cases = filespec_cases},
    {0},
};
