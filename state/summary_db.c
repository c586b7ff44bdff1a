/* summary_db.c - writes summaries to a SQLite database.
 *
 * The tables, their columns and what the rows hold are TensorFlow's, as seen in files that it wrote.  It fills
 * Tensors with empty rows, whose step is NULL, to have room for later ones; here there are none.  Ids of all tables are
 * drawn from the table Ids, so that several processes may write to one file.  Each event is one transaction. */
#include "state/summary_db.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/text.h"
#include "io/confine.h"
#include "io/sqlite.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct summary_db {
  const sqlite_functions *sql;
  sqlite_connection *connection;
  char *path, *experiment, *run, *user;
  int64_t experiment_id, run_id; /* 0: no row yet, or none at all */
  bool begun;
  double started;
};

enum { DB_BUSY_MS = 10000, DB_ID_TRIES = 64 };

static const char *const db_tables[] = {
    "CREATE TABLE IF NOT EXISTS Ids (id INTEGER PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS Descriptions (id INTEGER PRIMARY KEY, description TEXT)",
    "CREATE TABLE IF NOT EXISTS Tensors (rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER, "
    "computed_time REAL, shape TEXT, data BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TensorSeriesStepIndex ON Tensors (series, step) WHERE series IS NOT NULL AND "
    "step IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS TensorStrings (rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, idx INTEGER "
    "NOT NULL, data BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TensorStringIndex ON TensorStrings (tensor_rowid, idx)",
    "CREATE TABLE IF NOT EXISTS Tags (rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, "
    "inserted_time DOUBLE, tag_name TEXT, display_name TEXT, plugin_name TEXT, plugin_data BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TagIdIndex ON Tags (tag_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TagRunNameIndex ON Tags (run_id, tag_name) WHERE run_id IS NOT NULL AND "
    "tag_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Runs (rowid INTEGER PRIMARY KEY, experiment_id INTEGER, run_id INTEGER NOT NULL, "
    "inserted_time REAL, started_time REAL, finished_time REAL, run_name TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS RunIdIndex ON Runs (run_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS RunNameIndex ON Runs (experiment_id, run_name) WHERE run_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Experiments (rowid INTEGER PRIMARY KEY, user_id INTEGER, experiment_id INTEGER NOT "
    "NULL, inserted_time REAL, started_time REAL, is_watching INTEGER, experiment_name TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS ExperimentIdIndex ON Experiments (experiment_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS ExperimentNameIndex ON Experiments (user_id, experiment_name) WHERE "
    "experiment_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Users (rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, inserted_time REAL, "
    "user_name TEXT, email TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS UserIdIndex ON Users (user_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS UserNameIndex ON Users (user_name) WHERE user_name IS NOT NULL",
    "CREATE UNIQUE INDEX IF NOT EXISTS UserEmailIndex ON Users (email) WHERE email IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Graphs (rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, "
    "inserted_time REAL, graph_def BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS GraphIdIndex ON Graphs (graph_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS GraphRunIndex ON Graphs (run_id) WHERE run_id IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Nodes (rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, "
    "node_name TEXT, op TEXT, device TEXT, node_def BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS NodeIdIndex ON Nodes (graph_id, node_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS NodeNameIndex ON Nodes (graph_id, node_name) WHERE node_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS NodeInputs (rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT "
    "NULL, idx INTEGER NOT NULL, input_node_id INTEGER NOT NULL, input_node_idx INTEGER, is_control INTEGER)",
    "CREATE UNIQUE INDEX IF NOT EXISTS NodeInputsIndex ON NodeInputs (graph_id, node_id, idx)",
};

/* ---- statements ---- */

typedef struct bytes {
  const void *data; /* NULL: NULL in the database */
  size_t size;
} bytes;

static bytes bytes_of(const char *s) { return (bytes){s, strlen(s)}; }

static weft_err db_failed(const summary_db *db, weft_err code, const char *query) {
  return weft__fail(code, "the summary database %s: %s, in: %s", db->path, db->sql->message(db->connection), query);
}

/* Binds the arguments that `kinds` lists: i an int64_t, o the same with NULL for 0, d a double, t text and b a blob,
 * both as `const bytes *`. */
static weft_err db_bind(const summary_db *db, sqlite_statement *s, const char *query, const char *kinds, va_list args) {
  const sqlite_functions *sql = db->sql;
  for (int i = 1, size = 0, code = 0; kinds[i - 1]; i++) {
    const char kind = kinds[i - 1];
    if (kind == 'd') {
      code = sql->bind_real(s, i, va_arg(args, double));
    } else if (kind == 'i' || kind == 'o') {
      const int64_t v = va_arg(args, int64_t);
      if (v || kind == 'i') code = sql->bind_integer(s, i, v); /* what is not bound is NULL */
    } else {
      const bytes *b = va_arg(args, const bytes *);
      WEFT_TRY(weft__int_of_size(&size, b->size, "size of a value in a summary database"));
      if (b->data && kind == 't') code = sql->bind_text(s, i, b->data, size, NULL);
      if (b->data && kind == 'b') code = size ? sql->bind_blob(s, i, b->data, size, NULL) : sql->bind_zeros(s, i, 0);
    }
    if (code) return db_failed(db, WEFT_INTERNAL, query);
  }
  return WEFT_OK;
}

/* Runs a statement.  Unless `first` is NULL, it becomes the first column of the first row, an integer, or stays. */
static weft_err db_run(const summary_db *db, int64_t *first, const char *query, const char *kinds, ...) {
  sqlite_statement *s = NULL;
  va_list args;
  if (db->sql->prepare(db->connection, query, -1, &s, NULL)) return db_failed(db, WEFT_INVALID_ARGUMENT, query);
  va_start(args, kinds);
  weft_err err = db_bind(db, s, query, kinds, args);
  va_end(args);
  const int code = err ? SQLITE_FINISHED : db->sql->step(s);
  if (code == SQLITE_ROW_READY && first) *first = db->sql->integer(s, 0);
  if (code != SQLITE_ROW_READY && code != SQLITE_FINISHED) err = db_failed(db, WEFT_UNKNOWN, query);
  db->sql->finalize(s);
  return err;
}

static weft_err db_begin(const summary_db *db) { return db_run(db, NULL, "BEGIN IMMEDIATE", ""); }

/* Ends the transaction: what was written since db_begin is kept, or forgotten if err says that it failed. */
static weft_err db_end(const summary_db *db, weft_err err) {
  if (!err) return db_run(db, NULL, "COMMIT", "");
  status first = {0};
  weft__status_update(&first, err);
  db_run(db, NULL, "ROLLBACK", "");
  weft__status_raise(&first);
  weft__status_finish(&first);
  return err;
}

/* Draws an id that no row of the file has. */
static weft_err db_id(const summary_db *db, int64_t *out) {
  int64_t taken = 1;
  for (int i = 0; i < DB_ID_TRIES && taken; i++) {
    taken = 0;
    WEFT_TRY(db_run(db, out, "SELECT 1 + abs(random() % 8388607)", ""));
    WEFT_TRY(db_run(db, &taken, "SELECT id FROM Ids WHERE id = ?", "i", *out));
  }
  if (taken) WEFT_TRY(db_run(db, out, "SELECT 1 + max(id) FROM Ids", ""));
  return db_run(db, NULL, "INSERT INTO Ids (id) VALUES (?)", "i", *out);
}

/* ---- user, experiment and run ---- */

static weft_err db_user(const summary_db *db, double now, int64_t *out) {
  const bytes name = bytes_of(db->user);
  *out = 0;
  if (!name.size) return WEFT_OK;
  WEFT_TRY(db_run(db, out, "SELECT user_id FROM Users WHERE user_name = ?", "t", &name));
  if (*out) return WEFT_OK;
  WEFT_TRY(db_id(db, out));
  return db_run(db, NULL, "INSERT INTO Users (user_id, inserted_time, user_name) VALUES (?, ?, ?)", "idt", *out, now,
                &name);
}

static weft_err db_experiment(const summary_db *db, double now, double started, int64_t *out) {
  const bytes name = bytes_of(db->experiment);
  int64_t user = 0;
  *out = 0;
  if (!name.size) return WEFT_OK;
  WEFT_TRY(db_user(db, now, &user));
  WEFT_TRY(db_run(db, out, "SELECT experiment_id FROM Experiments WHERE user_id IS ? AND experiment_name = ?", "ot",
                  user, &name));
  if (*out)
    return db_run(db, NULL, "UPDATE Experiments SET started_time = min(started_time, ?) WHERE experiment_id = ?", "di",
                  started, *out);
  WEFT_TRY(db_id(db, out));
  return db_run(db, NULL,
                "INSERT INTO Experiments (user_id, experiment_id, inserted_time, started_time, is_watching, "
                "experiment_name) VALUES (?, ?, ?, ?, 0, ?)",
                "oiddt", user, *out, now, started, &name);
}

/* Makes the row of the run, which takes the place of one with the same name, or says that it started earlier. */
static weft_err db_start(summary_db *db, double now, double started) {
  const bytes name = bytes_of(db->run);
  int64_t experiment = 0, run = 0;
  if (!name.size || (db->begun && started >= db->started)) return WEFT_OK;
  if (db->begun) {
    WEFT_TRY(db_run(db, NULL, "UPDATE Runs SET started_time = ? WHERE run_id = ?", "di", started, db->run_id));
    WEFT_TRY(db_run(db, NULL, "UPDATE Experiments SET started_time = min(started_time, ?) WHERE experiment_id = ?",
                    "di", started, db->experiment_id));
  } else {
    WEFT_TRY(db_experiment(db, now, started, &experiment));
    WEFT_TRY(db_id(db, &run));
    WEFT_TRY(db_run(db, NULL,
                    "INSERT OR REPLACE INTO Runs (experiment_id, run_id, inserted_time, started_time, run_name) VALUES "
                    "(?, ?, ?, ?, ?)",
                    "oiddt", experiment, run, now, started, &name));
    db->experiment_id = experiment;
    db->run_id = run;
  }
  db->begun = true;
  db->started = started;
  return WEFT_OK;
}

/* ---- tensors ---- */

static weft_err db_tag(const summary_db *db, const summary_tag *tag, double now, int64_t *out) {
  const Tensorflow__SummaryMetadata *m = tag->metadata;
  const Tensorflow__SummaryMetadataPluginData *plugin = m ? m->plugin_data : NULL;
  const bytes name = {tag->name, tag->size}, display = bytes_of(m ? m->display_name : ""),
              words = bytes_of(m ? m->summary_description : ""),
              kind = bytes_of(plugin && *plugin->plugin_name ? plugin->plugin_name : tag->plugin),
              data = {plugin && plugin->content.len ? (const char *)plugin->content.data : "",
                      plugin ? plugin->content.len : 0};
  *out = 0;
  WEFT_TRY(db_run(db, out, "SELECT tag_id FROM Tags WHERE run_id IS ? AND tag_name = ?", "ot", db->run_id, &name));
  if (*out) return WEFT_OK;
  WEFT_TRY(db_id(db, out));
  WEFT_TRY(db_run(db, NULL, "INSERT INTO Descriptions (id, description) VALUES (?, ?)", "it", *out, &words));
  return db_run(
      db, NULL,
      "INSERT INTO Tags (run_id, tag_id, inserted_time, tag_name, display_name, plugin_name, plugin_data) VALUES "
      "(?, ?, ?, ?, ?, ?, ?)",
      "oidtttb", db->run_id, *out, now, &name, &display, &kind, &data);
}

static weft_err db_strings(const summary_db *db, const weft_tensor *x, int64_t row) {
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    const str *s = &TENSOR_DATA(x, const str)[i];
    const bytes data = {s->size ? s->data : "", s->size};
    WEFT_TRY(
        db_run(db, NULL, "INSERT INTO TensorStrings (tensor_rowid, idx, data) VALUES (?, ?, ?)", "iib", row, i, &data));
  }
  return WEFT_OK;
}

/* Appends the sizes of the dimensions with commas between them. */
static void summary_db_put_shape(text *t, const shape *s) {
  for (int i = 0; i < s->rank; i++) weft__text_printf(t, i ? ",%lld" : "%lld", (long long)s->dim[i]);
}

static weft_err db_put_tensor(const summary_db *db, int64_t series, int64_t at, double when, const weft_tensor *x) {
  const bool is_string = x->dtype == WEFT_STRING;
  const str *one = is_string && x->shape.rank == 0 ? x->data : NULL;
  bytes data = {NULL, 0};
  text dims = {0};
  if (one) data = (bytes){one->size ? one->data : "", one->size};
  if (!is_string && weft__tensor_count(x) > 0) data = (bytes){x->data, weft__tensor_bytes(x)};
  summary_db_put_shape(&dims, &x->shape);
  const bytes shape_text = bytes_of(weft__text_get(&dims));
  weft_err err = dims.failed
                     ? WEFT_OOM
                     : db_run(db, NULL,
                              "INSERT OR REPLACE INTO Tensors (series, step, dtype, computed_time, shape, data) "
                              "VALUES (?, ?, ?, ?, ?, ?)",
                              "iiidtb", series, at, (int64_t)x->dtype, when, &shape_text, &data);
  weft__text_finish(&dims);
  if (!err && is_string && !one) err = db_strings(db, x, db->sql->last_row(db->connection));
  return err;
}

static bool db_writes(weft_dtype t) {
  static const weft_dtype written[] = {WEFT_FLOAT,  WEFT_DOUBLE, WEFT_INT32,     WEFT_UINT8,     WEFT_INT16,
                                       WEFT_INT8,   WEFT_STRING, WEFT_INT64,     WEFT_UINT16,    WEFT_UINT32,
                                       WEFT_UINT64, WEFT_HALF,   WEFT_COMPLEX64, WEFT_COMPLEX128};
  for (size_t i = 0; i < sizeof written / sizeof *written; i++)
    if (written[i] == t) return true;
  return false;
}

/* Writes a tensor within a transaction. */
static weft_err db_add(summary_db *db, const summary_tag *tag, int64_t at, double now, double when,
                       const weft_tensor *x) {
  int64_t series = 0;
  if (!db_writes(x->dtype))
    return weft__fail(WEFT_UNIMPLEMENTED, "%s tensors unsupported on platform", weft__dtype_name(x->dtype));
  WEFT_TRY(db_start(db, now, when));
  WEFT_TRY(db_tag(db, tag, now, &series));
  return db_put_tensor(db, series, at, when, x);
}

/* Remembers what db_start changes, for a transaction that fails. */
typedef struct db_state {
  int64_t experiment_id, run_id;
  bool begun;
  double started;
} db_state;

static db_state db_remember(const summary_db *db) {
  return (db_state){db->experiment_id, db->run_id, db->begun, db->started};
}

static weft_err db_finish(summary_db *db, const db_state *before, weft_err err) {
  err = db_end(db, err);
  if (!err) return WEFT_OK;
  db->experiment_id = before->experiment_id;
  db->run_id = before->run_id;
  db->begun = before->begun;
  db->started = before->started;
  return err;
}

static double db_now(void) { return (double)weft__clock_wall_us() / 1e6; }

weft_err weft__summary_db_tensor(summary_db *db, const summary_tag *tag, int64_t at, const weft_tensor *x) {
  const db_state before = db_remember(db);
  const double now = db_now();
  WEFT_TRY(db_begin(db));
  return db_finish(db, &before, db_add(db, tag, at, now, now, x));
}

/* ---- values of an event as tensors ---- */

static weft_err strings_of(weft_tensor *out, const shape *s, const bytes *part) {
  WEFT_TRY(weft__tensor_init(out, WEFT_STRING, s));
  for (int64_t i = 0; i < weft__tensor_count(out); i++)
    WEFT_TRY(weft__str_set(&TENSOR_DATA(out, str)[i], part[i].data, part[i].size));
  return WEFT_OK;
}

static weft_err image_tensor(weft_tensor *out, const Tensorflow__SummaryImage *p) {
  static const shape three = {.rank = 1, .dim = {3}};
  char width[16], height[16];
  snprintf(width, sizeof width, "%" PRId32, p->width);
  snprintf(height, sizeof height, "%" PRId32, p->height);
  return strings_of(
      out, &three,
      (bytes[]){bytes_of(width), bytes_of(height), {p->encoded_image_string.data, p->encoded_image_string.len}});
}

/* A row for the sound: its bytes and a label, which is empty. */
static weft_err audio_tensor(weft_tensor *out, const Tensorflow__SummaryAudio *p) {
  static const shape row = {.rank = 2, .dim = {1, 2}};
  return strings_of(out, &row, (bytes[]){{p->encoded_audio_string.data, p->encoded_audio_string.len}, {"", 0}});
}

/* A row for each bucket: where it begins and ends, and how many values are in it.  The first begins at the smallest
 * positive number, which is what TensorFlow writes. */
static weft_err histogram_tensor(weft_tensor *out, const Tensorflow__HistogramProto *p) {
  const size_t n = p->n_bucket < p->n_bucket_limit ? p->n_bucket : p->n_bucket_limit;
  const shape s = {.rank = 2, .dim = {(int64_t)n, 3}};
  WEFT_TRY(weft__tensor_init(out, WEFT_DOUBLE, &s));
  for (size_t i = 0; i < n; i++) {
    double *row = TENSOR_DATA(out, double) + 3 * i;
    row[0] = i ? p->bucket_limit[i - 1] : DBL_MIN;
    row[1] = p->bucket_limit[i];
    row[2] = p->bucket[i];
  }
  return WEFT_OK;
}

static weft_err scalar_tensor(weft_tensor *out, float v) {
  WEFT_TRY(weft__tensor_init(out, WEFT_FLOAT, &SHAPE_SCALAR));
  TENSOR_DATA(out, float)[0] = v;
  return WEFT_OK;
}

static weft_err db_add_value(summary_db *db, const Tensorflow__Event *e, double now,
                             const Tensorflow__SummaryValue *v) {
  summary_tag tag = {v->tag, strlen(v->tag), v->metadata, ""};
  weft_tensor made = {0}, *held = NULL;
  weft_err err = WEFT_OK;
  switch (v->value_case) {
  case TENSORFLOW__SUMMARY_VALUE__VALUE_SIMPLE_VALUE:
    tag.plugin = "scalars";
    err = scalar_tensor(&made, v->simple_value);
    break;
  case TENSORFLOW__SUMMARY_VALUE__VALUE_IMAGE:
    tag.plugin = "images";
    err = image_tensor(&made, v->image);
    break;
  case TENSORFLOW__SUMMARY_VALUE__VALUE_AUDIO:
    tag.plugin = "audio";
    err = audio_tensor(&made, v->audio);
    break;
  case TENSORFLOW__SUMMARY_VALUE__VALUE_HISTO:
    tag.plugin = "histograms";
    err = histogram_tensor(&made, v->histo);
    break;
  case TENSORFLOW__SUMMARY_VALUE__VALUE_TENSOR: err = weft__tensor_from_proto(&held, v->tensor); break;
  default: return WEFT_OK;
  }
  if (!err) err = db_add(db, &tag, e->step, now, e->wall_time, held ? held : &made);
  weft__tensor_clear(&made);
  weft_tensor_destroy(held);
  return err;
}

/* ---- graphs ---- */

/* Writes a row for a node; the message in it lacks what has a column of its own. */
static weft_err db_node(const summary_db *db, int64_t graph, int64_t id, const Tensorflow__NodeDef *n) {
  char none[] = "";
  const bytes name = bytes_of(n->name), op = bytes_of(n->op), place = bytes_of(n->device);
  Tensorflow__NodeDef rest = *n;
  void *packed = NULL;
  size_t size = 0;
  rest.name = rest.op = rest.device = none;
  rest.n_input = 0;
  WEFT_TRY(weft__proto_pack(&rest.base, &packed, &size));
  const bytes def = {size ? packed : "", size};
  const weft_err err = db_run(
      db, NULL, "INSERT INTO Nodes (graph_id, node_id, node_name, op, device, node_def) VALUES (?, ?, ?, ?, ?, ?)",
      "iitttb", graph, id, &name, &op, &place, &def);
  weft__free(packed);
  return err;
}

static weft_err db_node_inputs(const summary_db *db, int64_t graph, int64_t id, const Tensorflow__NodeDef *n) {
  for (size_t i = 0; i < n->n_input; i++) {
    const bool control = n->input[i][0] == '^';
    const char *from = n->input[i] + control, *colon = control ? NULL : strrchr(from, ':');
    const bytes name = {from, colon ? (size_t)(colon - from) : strlen(from)};
    int64_t source = -1;
    WEFT_TRY(db_run(db, &source, "SELECT node_id FROM Nodes WHERE graph_id = ? AND node_name = ?", "it", graph, &name));
    if (source < 0) return weft__fail(WEFT_DATA_LOSS, "Could not find node: %.*s", weft__int_sat(name.size), from);
    WEFT_TRY(db_run(db, NULL,
                    "INSERT INTO NodeInputs (graph_id, node_id, idx, input_node_id, input_node_idx, is_control) VALUES "
                    "(?, ?, ?, ?, ?, ?)",
                    "iiiiii", graph, id, (int64_t)i, source, colon ? (int64_t)strtol(colon + 1, NULL, 10) : (int64_t)0,
                    (int64_t)control));
  }
  return WEFT_OK;
}

static weft_err db_put_graph(summary_db *db, double now, double when, Tensorflow__GraphDef *g) {
  const size_t n = g->n_node;
  void *packed = NULL;
  size_t size = 0;
  int64_t id = 0;
  WEFT_TRY(db_start(db, now, when));
  WEFT_TRY(db_id(db, &id));
  g->n_node = 0;
  weft_err err = weft__proto_pack(&g->base, &packed, &size);
  g->n_node = n;
  const bytes rest = {size ? packed : "", size};
  if (!err)
    err = db_run(db, NULL,
                 "INSERT OR REPLACE INTO Graphs (run_id, graph_id, inserted_time, graph_def) VALUES (?, ?, ?, ?)",
                 "oidb", db->run_id, id, now, &rest);
  for (size_t i = 0; i < n && !err; i++) err = db_node(db, id, (int64_t)i, g->node[i]);
  for (size_t i = 0; i < n && !err; i++) err = db_node_inputs(db, id, (int64_t)i, g->node[i]);
  weft__free(packed);
  return err;
}

static weft_err db_add_graph(summary_db *db, double now, double when, const ProtobufCBinaryData *data) {
  ProtobufCMessage *m = NULL;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__graph_def__descriptor, data->data, data->len));
  const weft_err err = db_put_graph(db, now, when, (Tensorflow__GraphDef *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

weft_err weft__summary_db_event(summary_db *db, const void *event, size_t size) {
  const db_state before = db_remember(db);
  const double now = db_now();
  ProtobufCMessage *m = NULL;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__event__descriptor, event, size));
  const Tensorflow__Event *e = (Tensorflow__Event *)m;
  weft_err err = db_begin(db);
  const bool begun = !err;
  if (!err && e->what_case == TENSORFLOW__EVENT__WHAT_SUMMARY)
    for (size_t i = 0; i < e->summary->n_value && !err; i++) err = db_add_value(db, e, now, e->summary->value[i]);
  if (!err && e->what_case == TENSORFLOW__EVENT__WHAT_GRAPH_DEF)
    err = db_add_graph(db, now, e->wall_time, &e->graph_def);
  if (begun) err = db_finish(db, &before, err);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* ---- opening and closing ---- */

static weft_err db_make_tables(summary_db *db) {
  WEFT_TRY(db_begin(db));
  weft_err err = WEFT_OK;
  for (size_t i = 0; i < sizeof db_tables / sizeof *db_tables && !err; i++) err = db_run(db, NULL, db_tables[i], "");
  return db_end(db, err);
}

static weft_err db_open(summary_db *db) {
  WEFT_TRY(weft__path_allowed(db->path));
  WEFT_TRY(weft__sqlite_load(&db->sql, "CreateSummaryDbWriter"));
  if (db->sql->open(db->path, &db->connection, SQLITE_READ_WRITE | SQLITE_CREATE, NULL))
    return weft__fail(WEFT_INVALID_ARGUMENT, "cannot open the summary database %s: %s", db->path,
                      db->connection ? db->sql->message(db->connection) : "out of memory");
  db->sql->busy_timeout(db->connection, DB_BUSY_MS);
  return db_make_tables(db);
}

static void db_free(summary_db *db) {
  if (db->connection) db->sql->close(db->connection);
  weft__free(db->path);
  weft__free(db->experiment);
  weft__free(db->run);
  weft__free(db->user);
  weft__free(db);
}

weft_err weft__summary_db_create(summary_db **out, const summary_db_spec *spec) {
  summary_db *db = weft__alloc_zero(1, sizeof *db);
  if (!db) return WEFT_OOM;
  db->path = weft__strdup(spec->path);
  db->experiment = weft__strdup(spec->experiment);
  db->run = weft__strdup(spec->run);
  db->user = weft__strdup(spec->user);
  const weft_err err = db->path && db->experiment && db->run && db->user ? db_open(db) : WEFT_OOM;
  if (err)
    db_free(db);
  else
    *out = db;
  return err;
}

weft_err weft__summary_db_destroy(summary_db *db) {
  if (!db) return WEFT_OK;
  const weft_err err =
      db->run_id ? db_run(db, NULL, "UPDATE Runs SET finished_time = ? WHERE run_id = ?", "di", db_now(), db->run_id)
                 : WEFT_OK;
  db_free(db);
  return err;
}
