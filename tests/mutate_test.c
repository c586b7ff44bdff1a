/* mutate_test.c - graphs TensorFlow made, spoiled at random: each gives an error or a sound graph.
 *
 * Two kinds of damage from fixed seeds: to the message (types, shapes, attributes, edges, names,
 * cycles, huge dimensions, missing fields), and to the bytes (bits, cuts).  The sanitizers watch for
 * what an expectation cannot see. */
#include "base/alloc.h"
#include "graph/gradient.h"
#include "graph/graphdef.h"
#include "graph/scope.h"
#include "ops/all.h"
#include "tests/check.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { PER_FILE = 400, BYTES_PER_FILE = 200, MOST_FILES = 32 };
static const char *const folder = "tests/corpus/tests.graphdef";

typedef struct bytes {
  uint8_t *data;
  size_t size;
} bytes;

static uint64_t seed;

static size_t below(size_t n) { /* xorshift */
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return n ? (size_t)(seed % n) : 0;
}

static bytes read_file(const char *name) {
  char path[512];
  bytes b = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) FAIL("cannot open %s", path);
  fseek(f, 0, SEEK_END);
  b.size = (size_t)ftell(f);
  rewind(f);
  b.data = malloc(b.size + 1);
  EXPECT(b.data && fread(b.data, 1, b.size, f) == b.size);
  fclose(f);
  return b;
}

static int read_folder(bytes *files) {
  int n = 0;
  DIR *d = opendir(folder);
  if (!d) FAIL("cannot open %s: run from the root of the tree", folder);
  for (const struct dirent *e; (e = readdir(d)) && n < MOST_FILES;)
    if (e->d_name[0] != '.') files[n++] = read_file(e->d_name);
  closedir(d);
  EXPECT(n >= 5);
  return n;
}

/* ---- damage to the message ---- */

static char *copy_of(const char *s) { /* freed with the message */
  char *copy = malloc(strlen(s) + 1);
  EXPECT(copy != NULL);
  return strcpy(copy, s);
}

static void set_text(char **field, const char *s) {
  char *copy = copy_of(s);
  if (*field != protobuf_c_empty_string) free(*field);
  *field = copy;
}

static Tensorflow__NodeDef *any_node(const Tensorflow__GraphDef *g) { return g->node[below(g->n_node)]; }

static Tensorflow__AttrValue *any_attr(const Tensorflow__GraphDef *g) {
  const Tensorflow__NodeDef *n = any_node(g);
  return n->n_attr ? n->attr[below(n->n_attr)]->value : NULL;
}

static void spoil_type(Tensorflow__GraphDef *g) {
  Tensorflow__AttrValue *v = any_attr(g);
  if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE)
    v->type = (int32_t[]){0, 3, 7, 9, 20, 24, 101, 999, -1, INT32_MAX}[below(10)];
}

static void spoil_kind(Tensorflow__GraphDef *g) {
  Tensorflow__AttrValue *v = any_attr(g);
  if (!v || (v->value_case != TENSORFLOW__ATTR_VALUE__VALUE_I && v->value_case != TENSORFLOW__ATTR_VALUE__VALUE_B &&
             v->value_case != TENSORFLOW__ATTR_VALUE__VALUE_TYPE))
    return;
  v->value_case = below(2) ? TENSORFLOW__ATTR_VALUE__VALUE_F : TENSORFLOW__ATTR_VALUE__VALUE__NOT_SET;
  v->f = 1;
}

static void spoil_int(Tensorflow__GraphDef *g) {
  Tensorflow__AttrValue *v = any_attr(g);
  if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I)
    v->i = (int64_t[]){-1, 0, INT64_MAX, INT64_MIN, 1 << 30, 7}[below(6)];
}

static void spoil_dims(const Tensorflow__TensorShapeProto *s) {
  if (s && s->n_dim)
    s->dim[below(s->n_dim)]->size = (int64_t[]){-1, -2, 0, 1, INT64_MAX, (int64_t)1 << 40, 3}[below(7)];
}

static void spoil_shape(Tensorflow__GraphDef *g) {
  Tensorflow__AttrValue *v = any_attr(g);
  if (!v) return;
  if (v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE) spoil_dims(v->shape);
  if (v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR) spoil_dims(v->tensor->tensor_shape);
}

static void spoil_tensor(Tensorflow__GraphDef *g) {
  Tensorflow__AttrValue *v = any_attr(g);
  if (!v || v->value_case != TENSORFLOW__ATTR_VALUE__VALUE_TENSOR) return;
  if (below(2)) v->tensor->dtype = (int32_t)below(30);
  if (below(2) && v->tensor->tensor_content.len) v->tensor->tensor_content.len = below(v->tensor->tensor_content.len);
}

static void drop_attr(Tensorflow__GraphDef *g) {
  Tensorflow__NodeDef *n = any_node(g);
  if (n->n_attr == 0) return;
  size_t i = below(n->n_attr);
  protobuf_c_message_free_unpacked(&n->attr[i]->base, NULL);
  n->attr[i] = n->attr[--n->n_attr];
}

static void rename_attr(Tensorflow__GraphDef *g) {
  Tensorflow__NodeDef *n = any_node(g);
  if (n->n_attr) set_text(&n->attr[below(n->n_attr)]->key, (const char *[]){"", "T", "zz", "_class", "N"}[below(5)]);
}

static void spoil_edge(Tensorflow__GraphDef *g) {
  Tensorflow__NodeDef *n = any_node(g);
  char name[600];
  const char *const forms[] = {"%s", "%s:1", "%s:77", "^%s", "%s:999999999999", ":%s", "%s:-1"};
  if (n->n_input == 0) return;
  const char *form = forms[below(7)];
  int at = 0;
  for (const char *p = form; *p; p++)
    at += p[0] == '%' ? (p++, snprintf(name + at, sizeof name - (size_t)at, "%.500s", any_node(g)->name))
                      : snprintf(name + at, sizeof name - (size_t)at, "%c", *p);
  set_text(&n->input[below(n->n_input)], name);
}

static void drop_edge(Tensorflow__GraphDef *g) {
  Tensorflow__NodeDef *n = any_node(g);
  if (n->n_input) free(n->input[--n->n_input]);
}

static void swap_op(Tensorflow__GraphDef *g) {
  set_text(&any_node(g)->op, below(8) ? any_node(g)->op : (const char *[]){"", "Nobody", "Merge", "Enter"}[below(4)]);
}

static void rename_node(Tensorflow__GraphDef *g) {
  set_text(&any_node(g)->name, below(2) ? any_node(g)->name : (const char *[]){"", "_x", "a b", "a:0"}[below(4)]);
}

static void drop_node(Tensorflow__GraphDef *g) {
  size_t i = below(g->n_node);
  protobuf_c_message_free_unpacked(&g->node[i]->base, NULL);
  g->node[i] = g->node[--g->n_node];
}

static void spoil_device(Tensorflow__GraphDef *g) {
  set_text(&any_node(g)->device, (const char *[]){"garbage", "/job:", "/gpu:99", "/job:a/task:1/cpu:0"}[below(4)]);
}

static void spoil_version(Tensorflow__GraphDef *g) {
  if (g->versions) g->versions->min_consumer = (int32_t[]){-1, 0, 99999}[below(3)];
  if (g->versions) g->versions->producer = (int32_t[]){-1, 0, 21, 99999}[below(4)];
}

static void make_cycle(Tensorflow__GraphDef *g) {
  Tensorflow__NodeDef *n = any_node(g);
  if (n->n_input) set_text(&n->input[0], n->name);
}

static void (*const damage[])(Tensorflow__GraphDef *) = {
    spoil_type, spoil_kind, spoil_int,   spoil_shape, spoil_tensor, drop_attr,     rename_attr, spoil_edge,
    drop_edge,  swap_op,    rename_node, drop_node,   spoil_device, spoil_version, make_cycle};

/* ---- judging ---- */

typedef struct tally {
  int errors, graphs;
} tally;

/* Some y by some x: an answer or an error, and in the end the graph as it was or longer. */
static void differentiate(weft_graph *g) {
  weft_out y, x;
  grad_value d;
  int n = g->n_node;
  y.node = (int32_t)(n - 1 - (int)below((size_t)(n < 4 ? n : 4)));
  x.node = (int32_t)below((size_t)n);
  y.slot = x.slot = 0;
  if (g->node[y.node]->n_out == 0 || g->node[x.node]->n_out == 0) return;
  weft_err err = weft__gradients(g, 1, &y, 1, &x, NULL, NULL, &d);
  EXPECT(g->n_node == n || err == WEFT_OK);
  EXPECT_EQ_INT(weft__scope_depth(g), 0);
}

/* All of it or none; what was taken goes out and comes in again. */
static void judge(const op_table *ops, const bytes *b, tally *t) {
  weft_graph *g;
  EXPECT_OK(weft__graph_create(&g, ops));
  weft_err err = weft__graph_import(g, b->data, b->size, NULL);
  if (err != WEFT_OK) {
    EXPECT_EQ_INT(g->n_node, 0);
    EXPECT(weft_error_message()[0] != 0);
    t->errors++;
  } else {
    bytes out;
    weft_graph *again;
    EXPECT_OK(weft__graph_export(g, NULL, &out.data, &out.size));
    EXPECT_OK(weft__graph_create(&again, ops));
    EXPECT_OK(weft__graph_import(again, out.data, out.size, NULL));
    EXPECT_EQ_INT(again->n_node, g->n_node);
    weft__graph_destroy(again);
    weft__free(out.data);
    if (g->n_node) differentiate(g);
    t->graphs++;
  }
  weft__graph_destroy(g);
}

static void judge_message(const op_table *ops, const Tensorflow__GraphDef *m, tally *t) {
  bytes b = {.size = tensorflow__graph_def__get_packed_size(m)};
  b.data = malloc(b.size + 1);
  EXPECT(b.data != NULL);
  tensorflow__graph_def__pack(m, b.data);
  judge(ops, &b, t);
  free(b.data);
}

static void setup(op_table **ops, bytes *files, int *n) {
  EXPECT_OK(weft__op_table_create(ops, weft__ops_all()));
  *n = read_folder(files);
}

static void teardown(op_table *ops, bytes *files, int n) {
  weft__op_table_destroy(ops);
  for (int i = 0; i < n; i++) free(files[i].data);
}

TEST_WITHIN(60, the_graphs_themselves_are_sound) {
  bytes files[MOST_FILES];
  op_table *ops;
  int n;
  tally t = {0};
  setup(&ops, files, &n);
  for (int i = 0; i < n; i++) judge(ops, &files[i], &t);
  EXPECT_EQ_INT(t.graphs, n);
  teardown(ops, files, n);
}

TEST_WITHIN(120, spoiled_messages_give_errors_or_sound_graphs) {
  bytes files[MOST_FILES];
  op_table *ops;
  int n;
  tally t = {0};
  setup(&ops, files, &n);
  seed = 0x853C49E6748FEA9Bu;
  for (int i = 0; i < n * PER_FILE; i++) {
    const bytes *b = &files[i % n];
    Tensorflow__GraphDef *m = tensorflow__graph_def__unpack(NULL, b->size, b->data);
    EXPECT(m != NULL);
    for (size_t k = 1 + below(4); k > 0 && m->n_node; k--) damage[below(sizeof damage / sizeof *damage)](m);
    judge_message(ops, m, &t);
    tensorflow__graph_def__free_unpacked(m, NULL);
  }
  EXPECT(t.errors >= 300);
  EXPECT(t.graphs >= 100);
  teardown(ops, files, n);
}

TEST_WITHIN(120, spoiled_bytes_give_errors_or_sound_graphs) {
  bytes files[MOST_FILES];
  op_table *ops;
  int n;
  tally t = {0};
  setup(&ops, files, &n);
  seed = 0xDA3E39CB94B95BDBu;
  for (int i = 0; i < n * BYTES_PER_FILE; i++) {
    bytes b = {.size = files[i % n].size};
    if (below(2)) b.size = below(b.size);
    b.data = malloc(b.size ? b.size : 1); /* its exact size: a read past the end is seen */
    EXPECT(b.data != NULL);
    memcpy(b.data, files[i % n].data, b.size);
    for (size_t k = below(4); k > 0 && b.size; k--) b.data[below(b.size)] ^= (uint8_t)(1u << below(8));
    judge(ops, &b, &t);
    free(b.data);
  }
  EXPECT(t.errors >= 300);
  teardown(ops, files, n);
}
