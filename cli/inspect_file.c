/* inspect_file.c - graphs, events and idx files, as `weft inspect` shows them. */
#include "inspect.h"
#include "npz.h"
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096 };

static int file_failed(const char *path) { return cli_failed(path, weft_error_message()); }

/* ---- graphs ---- */

static int by_device_and_op(const void *x, const void *y) {
  const weft_node *const a = *(const weft_node *const *)x, *const b = *(const weft_node *const *)y;
  const int order = strcmp(weft_node_device(a), weft_node_device(b));
  return order ? order : strcmp(weft_node_op(a), weft_node_op(b));
}

static bool is_known(const char *op) {
  for (int i = 0; i < weft_op_count(); i++)
    if (strcmp(weft_op_name(i), op) == 0) return true;
  return false;
}

/* How many from node i on are of its device and, if asked, of its op; they stand together. */
static int run_of(const weft_node *const *node, int n, int i, bool of_op) {
  int k = i;
  while (k < n && strcmp(weft_node_device(node[k]), weft_node_device(node[i])) == 0 &&
         (!of_op || strcmp(weft_node_op(node[k]), weft_node_op(node[i])) == 0))
    k++;
  return k - i;
}

static void print_ops(const weft_node *const *node, int n) {
  for (int i = 0; i < n;) {
    const int here = run_of(node, n, i, false), end = i + here;
    printf("%7d  on %s\n", here, *weft_node_device(node[i]) ? weft_node_device(node[i]) : "no device");
    while (i < end) {
      const int same = run_of(node, end, i, true);
      const char *op = weft_node_op(node[i]);
      printf("%11d  %s%s\n", same, op, is_known(op) ? "" : "  (unknown here: it cannot be run)");
      i += same;
    }
  }
}

static void print_json_ops(const weft_node *const *node, int n) {
  cli_json_open(inspect_json, "devices", '[');
  for (int i = 0; i < n;) {
    const int here = run_of(node, n, i, false), end = i + here;
    cli_json_open(inspect_json, NULL, '{');
    cli_json_text(inspect_json, "device", weft_node_device(node[i]));
    cli_json_integer(inspect_json, "nodes", here);
    cli_json_open(inspect_json, "ops", '[');
    while (i < end) {
      const int same = run_of(node, end, i, true);
      cli_json_open(inspect_json, NULL, '{');
      cli_json_text(inspect_json, "op", weft_node_op(node[i]));
      cli_json_integer(inspect_json, "count", same);
      cli_json_bool(inspect_json, "known", is_known(weft_node_op(node[i])));
      cli_json_close(inspect_json, '}');
      i += same;
    }
    cli_json_close(inspect_json, ']');
    cli_json_close(inspect_json, '}');
  }
  cli_json_close(inspect_json, ']');
}

static void print_json_graph(const char *path, const weft_graph *g, bool is_meta, const weft_node *const *node, int n) {
  inspect_json_open(path, is_meta ? "meta_graph" : "graph");
  cli_json_integer(inspect_json, "nodes", n);
  print_json_ops(node, n);
  cli_json_open(inspect_json, "collections", '[');
  for (int i = 0; i < weft_collection_count(g); i++) {
    const char *list = weft_collection_at(g, i);
    cli_json_open(inspect_json, NULL, '{');
    cli_json_text(inspect_json, "name", list);
    cli_json_integer(inspect_json, "size", weft_collection_size(g, list));
    cli_json_close(inspect_json, '}');
  }
  cli_json_close(inspect_json, ']');
  cli_json_close(inspect_json, '}');
}

static void print_text_graph(const char *path, const weft_graph *g, bool is_meta, const weft_node *const *node, int n) {
  printf("%s: a %s of %d nodes\n", path, is_meta ? "MetaGraphDef" : "GraphDef", n);
  print_ops(node, n);
  for (int i = 0; i < weft_collection_count(g); i++) {
    const char *list = weft_collection_at(g, i);
    printf("collection %s: %d\n", list, weft_collection_size(g, list));
  }
}

static int print_graph(const char *path, const weft_graph *g, bool is_meta) {
  const int n = weft_graph_size(g);
  const weft_node **node = malloc(((size_t)n + 1) * sizeof *node);
  if (!node) return cli_failed(path, strerror(errno));
  for (int i = 0; i < n; i++) node[i] = weft_graph_node(g, i);
  qsort((void *)node, (size_t)n, sizeof *node, by_device_and_op);
  (inspect_json ? print_json_graph : print_text_graph)(path, g, is_meta, node, n);
  free((void *)node);
  return DONE;
}

int inspect_graph(const char *path, const char *dot) {
  weft_graph *g = NULL;
  weft_err err = weft_graph_create(&g);
  if (err == WEFT_OK) err = weft_graph_import_file(g, path, NULL);
  int code = FAILED;
  if (err != WEFT_OK)
    fprintf(stderr, "weft inspect: %s\n", weft_error_message()); /* which names the file */
  else
    code = dot ? inspect_dot(g, dot) : print_graph(path, g, cli_ends_with(path, ".meta"));
  weft_graph_destroy(g);
  return code;
}

/* ---- events ---- */

typedef struct event_view {
  const char *tag; /* the only one to show, or NULL */
  int run;         /* the index of the path that is read */
  int64_t events, scalars;
  inspect_curves *curves; /* NULL: a table is printed */
} event_view;

static weft_err show_scalar(void *arg, const weft_event_scalar *s) {
  event_view *v = arg;
  if (v->tag && strcmp(v->tag, s->tag) != 0) return WEFT_OK;
  v->scalars++;
  if (v->curves)
    return inspect_curves_add(v->curves, v->run, s->tag, s->step, s->value) ? WEFT_OK : WEFT_RESOURCE_EXHAUSTED;
  if (inspect_json) {
    cli_json_open(inspect_json, NULL, '{');
    cli_json_text(inspect_json, "tag", s->tag);
    cli_json_integer(inspect_json, "step", s->step);
    cli_json_number(inspect_json, "value", s->value);
    cli_json_close(inspect_json, '}');
    return WEFT_OK;
  }
  printf("%-32s %10" PRId64 "  %.8g\n", s->tag, s->step, s->value);
  return WEFT_OK;
}

static weft_err show_event(void *arg, const void *record, size_t size) {
  ((event_view *)arg)->events++;
  return weft_event_scalars(record, size, show_scalar, arg);
}

static int show_json_events(const char *path, event_view *v) {
  inspect_json_open(path, "events");
  cli_json_open(inspect_json, "scalars", '[');
  const weft_err err = weft_records_each(path, show_event, v);
  cli_json_close(inspect_json, ']');
  cli_json_integer(inspect_json, "events", v->events);
  cli_json_text(inspect_json, "problem", err == WEFT_OK ? NULL : weft_error_message());
  cli_json_close(inspect_json, '}');
  return err == WEFT_OK ? DONE : file_failed(path);
}

static int show_events(const char *path, event_view *v) {
  v->events = 0;
  if (inspect_json) return show_json_events(path, v);
  if (!v->curves) printf("%s: events\n%-32s %10s  value\n", path, "tag", "step");
  const weft_err err = weft_records_each(path, show_event, v);
  if (!v->curves) printf("%" PRId64 " events\n", v->events);
  return err == WEFT_OK ? DONE : file_failed(path);
}

static int each_file(const char *path, event_view *v) {
  char pattern[PATH_ROOM];
  struct stat st;
  glob_t found = {0};
  int code = DONE;
  if (stat(path, &st) != 0) return cli_failed(path, strerror(errno));
  if (!S_ISDIR(st.st_mode)) {
    code = show_events(path, v);
  } else {
    snprintf(pattern, sizeof pattern, "%s/*tfevents*", path);
    if (glob(pattern, 0, NULL, &found) != 0) return cli_failed(path, "no events in this folder");
    for (size_t i = 0; i < found.gl_pathc && code == DONE; i++) code = show_events(found.gl_pathv[i], v);
    globfree(&found);
  }
  return code;
}

int inspect_events(const char *const *path, int n, const char *tag, bool plot) {
  event_view v = {.tag = tag, .curves = plot ? inspect_curves_create() : NULL};
  int code = DONE;
  for (int i = 0; i < n && code == DONE; i++) {
    v.run = i;
    v.scalars = 0;
    code = each_file(path[i], &v);
    if (code == DONE && (tag || plot) && !v.scalars)
      code = cli_failed(path[i], tag ? "there are no scalars of that --tag" : "there are no scalars to --plot");
  }
  if (code == DONE && v.curves) inspect_curves_print(v.curves, path, n);
  inspect_curves_destroy(v.curves);
  return code;
}

/* ---- idx ---- */

int inspect_idx(const char *path) {
  weft_tensor *t;
  char shape[SHAPE_TEXT];
  if (weft_idx_read(&t, path) != WEFT_OK) return file_failed(path);
  if (inspect_json) {
    inspect_json_open(path, "idx");
    inspect_json_tensor(weft_dtype_name(weft_tensor_dtype(t)), weft_tensor_rank(t), weft_tensor_dims(t),
                        (int64_t)weft_tensor_bytes(t));
    cli_json_close(inspect_json, '}');
  } else {
    printf("%s: an idx file of %s %s, %zu bytes\n", path, weft_dtype_name(weft_tensor_dtype(t)),
           inspect_shape(shape, sizeof shape, weft_tensor_rank(t), weft_tensor_dims(t)), weft_tensor_bytes(t));
  }
  weft_tensor_destroy(t);
  return DONE;
}

/* ---- SavedModels and numpy's archives ---- */

int inspect_saved_model(const char *dir) {
  char *text, variables[PATH_ROOM + 32];
  if ((inspect_json ? weft_saved_model_json : weft_saved_model_describe)(&text, dir) != WEFT_OK)
    return file_failed(dir);
  if (inspect_json) {
    inspect_json_open(dir, "saved_model");
    cli_json_raw(inspect_json, "graphs", text);
    cli_json_close(inspect_json, '}');
    weft_free(text);
    return DONE;
  }
  printf("%s: a SavedModel\n%s", dir, text);
  weft_free(text);
  snprintf(variables, sizeof variables, "%s/variables/variables", dir);
  if (weft_checkpoint_exists(variables)) printf("'weft inspect %s' lists its variables\n", variables);
  return DONE;
}

typedef struct npz_view {
  int64_t arrays, bytes;
} npz_view;

static weft_err show_array(void *arg, const char *name, weft_tensor *t) {
  npz_view *v = arg;
  char shown[SHAPE_TEXT];
  const bool text = weft_tensor_dtype(t) == WEFT_STRING;
  const int64_t bytes = text ? 0 : (int64_t)weft_tensor_bytes(t);
  if (inspect_json) {
    cli_json_open(inspect_json, NULL, '{');
    cli_json_text(inspect_json, "name", name);
    inspect_json_tensor(weft_dtype_name(weft_tensor_dtype(t)), weft_tensor_rank(t), weft_tensor_dims(t),
                        text ? -1 : bytes);
    cli_json_close(inspect_json, '}');
  } else {
    printf("  %-40s %-10s %-20s %" PRId64 " bytes\n", name, weft_dtype_name(weft_tensor_dtype(t)),
           inspect_shape(shown, sizeof shown, weft_tensor_rank(t), weft_tensor_dims(t)), bytes);
  }
  v->arrays++;
  v->bytes += bytes;
  weft_tensor_destroy(t);
  return WEFT_OK;
}

static weft_err show_other_array(void *arg, const char *name, const char *why) {
  npz_view *v = arg;
  if (inspect_json) {
    cli_json_open(inspect_json, NULL, '{');
    cli_json_text(inspect_json, "name", name);
    cli_json_text(inspect_json, "problem", why);
    cli_json_close(inspect_json, '}');
  } else {
    printf("  %-40s %s\n", name, why);
  }
  v->arrays++;
  return WEFT_OK;
}

static int inspect_json_npz(const char *path) {
  npz_view v = {0};
  inspect_json_open(path, "npz");
  cli_json_open(inspect_json, "arrays", '[');
  const weft_err err = npz_each(path, show_array, show_other_array, &v);
  cli_json_close(inspect_json, ']');
  cli_json_integer(inspect_json, "bytes", v.bytes);
  cli_json_text(inspect_json, "problem", err == WEFT_OK ? NULL : weft_error_message());
  cli_json_close(inspect_json, '}');
  return err == WEFT_OK ? DONE : file_failed(path);
}

int inspect_npz(const char *path) {
  npz_view v = {0};
  if (inspect_json) return inspect_json_npz(path);
  printf("%s: arrays of numpy\n", path);
  if (npz_each(path, show_array, show_other_array, &v) != WEFT_OK) return file_failed(path);
  printf("%" PRId64 " arrays, %" PRId64 " bytes\n", v.arrays, v.bytes);
  return DONE;
}
