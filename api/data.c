/* data.c - the public functions that read files of training data. */
#include "api/argument.h"
#include "base/alloc.h"
#include "base/log.h"
#include "io/samples.h"
#include "io/file.h"
#include "io/idx.h"
#include "weft/train.h"
#include <time.h>

enum { DIGITS = 10, SIDE = 28, VALIDATION = 5000 };

weft_err weft_idx_read(weft_tensor **out, const char *path) {
  API_NEED(out);
  API_NEED(path);

  *out = NULL;
  return path ? weft__idx_read(out, path) : weft__fail(WEFT_INVALID_ARGUMENT, "weft_idx_read: no path");
}

weft_err weft_cifar10_read(weft_tensor **images, weft_tensor **labels, const char *path) {
  API_NEED(images);
  API_NEED(labels);
  API_NEED(path);

  *images = *labels = NULL;
  return path ? weft__cifar10_read(images, labels, path)
              : weft__fail(WEFT_INVALID_ARGUMENT, "weft_cifar10_read: no path");
}

/* ---- samples: wrappers of io/samples.h ---- */

static samples_opts read_opts(const weft_samples_opts *o, int classes) {
  static const weft_samples_opts standard = {0};
  struct timespec now;
  if (!o) o = &standard;
  clock_gettime(CLOCK_REALTIME, &now);
  return (samples_opts){.classes = !o->one_hot      ? 0
                                   : o->classes > 0 ? o->classes
                                                    : classes,
                        .bytes = o->bytes,
                        .keep_shape = o->keep_shape,
                        .channels = o->channels,
                        .in_order = !weft__choice_yes(o->shuffle),
                        .seed = (uint32_t)(o->has_seed ? o->seed : now.tv_nsec ^ now.tv_sec)};
}

weft_err weft_samples_create(weft_samples **out, weft_tensor *images, weft_tensor *labels,
                             const weft_samples_opts *opts) {
  API_NEED(out);
  API_NEED(images);
  API_NEED(labels);
  API_OPTS(weft_samples_opts, opts);

  *out = NULL;
  if (!images || !labels || weft_tensor_rank(labels) < 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "samples need images and labels");
  samples_opts o = read_opts(opts, DIGITS);
  return weft__samples_create((samples **)out, images, labels, 0, weft_tensor_dims(labels)[0], &o);
}

void weft_samples_destroy(weft_samples *d) { weft__samples_destroy((samples *)d); }
int64_t weft_samples_size(const weft_samples *d) {
  API_NEED_OR(d, 0);
  return weft__samples_size((const samples *)d);
}
int64_t weft_samples_epochs(const weft_samples *d) {
  API_NEED_OR(d, 0);
  return weft__samples_epochs((const samples *)d);
}
weft_err weft_samples_next(weft_samples *d, int64_t n, weft_tensor **images, weft_tensor **labels) {
  API_NEED(d);
  API_NEED(images);
  API_NEED(labels);

  return weft__samples_next((samples *)d, n, images, labels);
}

/* ---- MNIST ---- */

static weft_err read_file(weft_tensor **out, const char *folder, const char *part, const char *kind, int64_t size) {
  char *path = weft__sprintf("%s/%s-%s-ubyte", folder, part, kind);
  if (!path) return WEFT_OOM;
  weft_err err = weft__idx_read(out, path);
  int64_t n = !err && (*out)->shape.rank > 0 ? (*out)->shape.dim[0] : 0;
  if (!err && ((*out)->dtype != WEFT_UINT8 || weft__tensor_count(*out) != n * size)) {
    err = weft__fail(WEFT_DATA_LOSS, "%s is not of MNIST's shape: it is a %s of %s", path,
                     weft__dtype_name((*out)->dtype), weft__shape_text(&(*out)->shape));
    weft_tensor_destroy(*out);
    *out = NULL;
  }
  weft__free(path);
  return err;
}

/* Puts the rows before `first` into *head and the others into *rest.  Both may be NULL. */
static weft_err data_read_part(samples **rest, samples **head, const char *folder, const char *part, int64_t first,
                               const samples_opts *o) {
  weft_tensor *images = NULL, *labels = NULL;
  weft_err err = read_file(&images, folder, part, "images-idx3", SIDE * SIDE);
  if (!err) err = read_file(&labels, folder, part, "labels-idx1", 1);
  int64_t n = err ? 0 : labels->shape.dim[0];
  if (!err && first > n)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Validation size should be between 0 and %lld. Received: %lld.",
                     (long long)n, (long long)first);
  if (!err && rest) err = weft__samples_create(rest, images, labels, first, n - first, o);
  if (!err && head) err = weft__samples_create(head, images, labels, 0, first, o);
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
  return err;
}

weft_err weft_mnist_read(weft_samples **train, weft_samples **validation, weft_samples **test, const char *folder,
                         const weft_samples_opts *opts) {
  API_NEED(folder);
  API_OPTS(weft_samples_opts, opts);

  weft_samples *none, **all[] = {train ? train : &none, validation ? validation : &none, test ? test : &none};
  samples_opts o = read_opts(opts, DIGITS);
  int64_t kept = opts && opts->validation ? opts->validation : VALIDATION;
  weft_err err = folder ? WEFT_OK : weft__fail(WEFT_INVALID_ARGUMENT, "weft_mnist_read: no folder");
  for (int i = 0; i < 3; i++) *all[i] = NULL;
  if (!err && (train || validation))
    err = data_read_part((samples **)train, (samples **)validation, folder, "train", kept < 0 ? 0 : kept, &o);
  if (!err && test) err = data_read_part((samples **)test, NULL, folder, "t10k", 0, &o);
  for (int i = 0; err && i < 3; i++) {
    weft_samples_destroy(*all[i]);
    *all[i] = NULL;
  }
  return err;
}
