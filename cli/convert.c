/* convert.c - `weft convert`: MNIST's idx files as TFRecords, a checkpoint as the .npz that numpy loads, and back. */
#include "command.h"
#include "npz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATH_ROOM = 4096, REPORT_SECONDS = 3 };

/* ---- MNIST ---- */

typedef struct digits {
  weft_tensor *images, *labels; /* uint8 [n, ...] and [n] */
} digits;

static weft_err read_digits(digits *d, const char *folder) {
  char path[PATH_ROOM];
  snprintf(path, sizeof path, "%s/train-images-idx3-ubyte", folder);
  weft_err err = weft_idx_read(&d->images, path);
  if (err != WEFT_OK) return err;
  snprintf(path, sizeof path, "%s/train-labels-idx1-ubyte", folder);
  err = weft_idx_read(&d->labels, path);
  if (err != WEFT_OK) return err;
  const bool fit = weft_tensor_dtype(d->images) == WEFT_UINT8 && weft_tensor_dtype(d->labels) == WEFT_UINT8 &&
                   weft_tensor_rank(d->images) > 1 && weft_tensor_rank(d->labels) == 1 &&
                   weft_tensor_dims(d->images)[0] == weft_tensor_dims(d->labels)[0];
  return fit ? WEFT_OK
             : weft_fail(WEFT_INVALID_ARGUMENT,
                         "the images and labels do not match: want uint8 [n, ...] and uint8 [n]");
}

static weft_err write_digit(weft_record_writer *w, const char *image, int64_t pixels, int64_t label) {
  static const char *const names[] = {"image_raw", "label", "pixels"};
  weft_tensor *value[3] = {NULL};
  void *example = NULL;
  size_t size;
  weft_err err = weft_tensor_create(&value[0], WEFT_STRING, 0, NULL, NULL);
  if (err == WEFT_OK) err = weft_tensor_set_string(value[0], 0, image, (size_t)pixels);
  if (err == WEFT_OK) err = weft_tensor_create(&value[1], WEFT_INT64, 0, NULL, &label);
  if (err == WEFT_OK) err = weft_tensor_create(&value[2], WEFT_INT64, 0, NULL, &pixels);
  if (err == WEFT_OK) err = weft_example_create(&example, &size, 3, names, (const weft_tensor *const *)value);
  if (err == WEFT_OK) err = weft_record_write(w, example, size);
  weft_free(example);
  for (int i = 0; i < 3; i++) weft_tensor_destroy(value[i]);
  return err;
}

static weft_err write_digits(const digits *d, const char *out) {
  weft_record_writer *w;
  const int64_t n = weft_tensor_count(d->labels), pixels = n ? weft_tensor_count(d->images) / n : 0;
  const char *image = weft_tensor_data(d->images);
  const uint8_t *label = weft_tensor_data(d->labels);
  weft_err err = weft_record_writer_create(&w, out);
  if (err != WEFT_OK) return err;
  time_t last = time(NULL);
  for (int64_t i = 0; i < n && err == WEFT_OK; i++) {
    err = write_digit(w, image + i * pixels, pixels, label[i]);
    if (time(NULL) - last < REPORT_SECONDS) continue;
    fprintf(stderr, "%s: %lld of %lld Examples\n", out, (long long)i + 1, (long long)n);
    last = time(NULL);
  }
  const weft_err closed = weft_record_writer_close(w);
  if (err == WEFT_OK) err = closed;
  if (err != WEFT_OK) remove(out);
  return err;
}

static int convert_mnist(const char *folder, const char *out) {
  digits d = {0};
  int code = DONE;
  if (strlen(folder) > PATH_ROOM / 2)
    code = cli_failed(folder, "the path is too long");
  else if (read_digits(&d, folder) != WEFT_OK)
    code = cli_failed(folder, weft_error_message());
  else if (write_digits(&d, out) != WEFT_OK)
    code = cli_failed(out, weft_error_message());
  else
    printf("%s: %lld Examples\n", out, (long long)weft_tensor_count(d.labels));
  weft_tensor_destroy(d.images);
  weft_tensor_destroy(d.labels);
  return code;
}

/* ---- checkpoints ---- */

static weft_err convert_write_all(npz *z, weft_checkpoint *c) {
  for (int i = 0; i < weft_checkpoint_size(c); i++) {
    weft_tensor *t;
    weft_err err = weft_checkpoint_read(&t, c, weft_checkpoint_name(c, i));
    if (err != WEFT_OK) return err;
    err = npz_add(z, weft_checkpoint_name(c, i), t);
    weft_tensor_destroy(t);
    if (err != WEFT_OK) return err;
  }
  return WEFT_OK;
}

static int convert_checkpoint(const char *prefix, const char *out) {
  weft_checkpoint *c;
  npz z;
  if (weft_checkpoint_open(&c, prefix) != WEFT_OK) return cli_failed(prefix, weft_error_message());
  weft_err err = npz_open(&z, out);
  if (err == WEFT_OK) {
    err = convert_write_all(&z, c);
    err = npz_close(&z, err);
    if (err != WEFT_OK) remove(out);
  }
  const int code = err == WEFT_OK ? DONE : cli_failed(out, weft_error_message());
  if (code == DONE) printf("%s: %d arrays\n", out, weft_checkpoint_size(c));
  weft_checkpoint_close(c);
  return code;
}

/* ---- and back ---- */

typedef struct loaded {
  weft_tensor **value;
  char **name;
  int n;
} loaded;

static weft_err convert_keep(void *arg, const char *name, weft_tensor *t) {
  loaded *l = arg;
  weft_tensor **values = realloc((void *)l->value, ((size_t)l->n + 1) * sizeof *values);
  if (values) l->value = values;
  char **names = realloc((void *)l->name, ((size_t)l->n + 1) * sizeof *names), *own = strdup(name);
  if (names) l->name = names;
  if (!values || !names || !own) {
    free(own);
    return weft_fail(WEFT_RESOURCE_EXHAUSTED, "out of memory");
  }
  l->value[l->n] = t;
  l->name[l->n++] = own;
  return WEFT_OK;
}

/* Creates a constant of n strings, which are all empty if list is NULL. */
static weft_out convert_strings(weft_graph *g, int n, char *const *list) {
  weft_tensor *t = NULL;
  weft_out out = WEFT_NONE;
  weft_err err = weft_tensor_create(&t, WEFT_STRING, WEFT_DIMS(n), NULL);
  for (int i = 0; i < n && list && err == WEFT_OK; i++) err = weft_tensor_set_string(t, i, list[i], strlen(list[i]));
  if (err == WEFT_OK) out = weft_constant(g, t);
  weft_tensor_destroy(t);
  return out;
}

static weft_err convert_save(weft_graph *g, const loaded *l, const char *prefix) {
  weft_tensor *path = NULL;
  weft_session *sess = NULL;
  weft_feed *feeds = calloc((size_t)l->n + 1, sizeof *feeds);
  weft_err err = feeds ? weft_tensor_create(&path, WEFT_STRING, 0, NULL, NULL) : WEFT_RESOURCE_EXHAUSTED;
  if (err == WEFT_OK) err = weft_tensor_set_string(path, 0, prefix, strlen(prefix));
  if (err == WEFT_OK) {
    weft_out where = weft_constant(g, path), names = convert_strings(g, l->n, l->name),
             slices = convert_strings(g, l->n, NULL);
    for (int i = 0; i < l->n; i++)
      feeds[i] = (weft_feed){weft_input(g, "value", weft_tensor_dtype(l->value[i]), weft_tensor_rank(l->value[i]),
                                        weft_tensor_dims(l->value[i])),
                             l->value[i]};
    weft_builder *b = weft_node_begin(g, "SaveV2", "save");
    weft_builder_input(b, where), weft_builder_input(b, names), weft_builder_input(b, slices);
    for (int i = 0; i < l->n; i++) weft_builder_input(b, feeds[i].to);
    weft_out node = weft_builder_finish(b);
    err = weft_session_create(&sess, g, NULL);
    if (err == WEFT_OK)
      err = weft_session_run(sess, &(weft_request){.n_feed = l->n, .feeds = feeds, .n_target = 1, .targets = &node});
  }
  weft_session_destroy(sess);
  weft_tensor_destroy(path);
  free(feeds);
  return err;
}

static int convert_npz(const char *from, const char *prefix) {
  loaded l = {0};
  weft_graph *g = NULL;
  int code = DONE;
  if (npz_each(from, convert_keep, NULL, &l) != WEFT_OK)
    code = cli_failed(from, weft_error_message());
  else if (!l.n)
    code = cli_failed(from, "the file has no arrays");
  else if (weft_graph_create(&g) != WEFT_OK || convert_save(g, &l, prefix) != WEFT_OK)
    code = cli_failed(prefix, weft_error_message());
  else
    printf("%s: %d tensors\n", prefix, l.n);
  for (int i = 0; i < l.n; i++) {
    weft_tensor_destroy(l.value[i]);
    free(l.name[i]);
  }
  free((void *)l.value);
  free((void *)l.name);
  weft_graph_destroy(g);
  return code;
}

static const struct {
  const char *name, *from, *to; /* from, to: the names of the arguments */
  int (*convert)(const char *from, const char *to);
} kinds[] = {{"mnist-tfrecords", "FOLDER", "OUT.tfrecords", convert_mnist},
             {"checkpoint", "PREFIX", "OUT.npz", convert_checkpoint},
             {"npz", "IN.npz", "PREFIX", convert_npz}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int convert_run(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '-') return cli_bad_option(argv[i]);
  if (argc < 2) return cli_missing("mnist-tfrecords, checkpoint or npz");
  const char *known[KINDS];
  for (int i = 0; i < KINDS; i++) {
    known[i] = kinds[i].name;
    if (strcmp(argv[1], known[i]) != 0) continue;
    if (argc < 4) return cli_missing(argc < 3 ? kinds[i].from : kinds[i].to);
    return argc > 4 ? cli_unexpected(argv[4]) : kinds[i].convert(argv[2], argv[3]);
  }
  return cli_unknown("conversion", argv[1], known, KINDS);
}

const cli_command cli_convert = {
    .name = "convert",
    .arguments = "mnist-tfrecords FOLDER OUT.tfrecords\ncheckpoint PREFIX OUT.npz\nnpz IN.npz PREFIX",
    .summary = "Make TFRecords of MNIST, a .npz of a checkpoint, a checkpoint of a .npz.",
    .about = "mnist-tfrecords: an Example for each training image of FOLDER (train-images-idx3-ubyte and\n"
             "train-labels-idx1-ubyte, plain or .gz): image_raw (bytes), pixels (int64), label (int64).\n\n"
             "checkpoint: every tensor under its name, for numpy.load.  bfloat16 becomes float32.\n\n"
             "npz: every array that numpy.savez or savez_compressed wrote, under its name, as PREFIX.index and "
             "PREFIX.data-00000-of-00001.",
    .run = convert_run,
};
