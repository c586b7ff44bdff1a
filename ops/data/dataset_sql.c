/* dataset_sql.c - SqlDataset: the rows that a query of a SQLite database returns.
 *
 * The SQLite library is loaded when the first such data set is read (io/sqlite.h). */
#include "base/alloc.h"
#include "base/cast.h"
#include "io/confine.h"
#include "io/sqlite.h"
#include "ops/data/dataset.h"
#include <string.h>

/* ---- the data set ---- */

typedef struct rows {
  dataset base;
  char *path, *query;
} rows;

typedef struct rows_at {
  iterator base;
  const sqlite_functions *sql; /* NULL before the first element */
  sqlite_connection *connection;
  sqlite_statement *statement;
  bool over;
} rows_at;

static void rows_destroy(dataset *d) {
  weft__free(((rows *)d)->path);
  weft__free(((rows *)d)->query);
}

static void rows_finish(iterator *it) {
  rows_at *at = (rows_at *)it;
  if (at->statement) at->sql->finalize(at->statement);
  if (at->connection) at->sql->close(at->connection);
}

static weft_err rows_open(iterator *it) {
  rows_at *at = (rows_at *)it;
  const rows *r = (rows *)it->set;
  WEFT_TRY(weft__sqlite_load(&at->sql, "SqlDataset"));
  WEFT_TRY(weft__path_allowed(r->path));
  int code = at->connection ? 0 : at->sql->open(r->path, &at->connection, SQLITE_READ_ONLY, NULL);
  if (code)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Failed to connect to database: [%d] %s: %s", code,
                      at->connection ? at->sql->message(at->connection) : "out of memory", r->path);
  code = at->sql->prepare(at->connection, r->query, -1, &at->statement, NULL);
  if (code || !at->statement)
    return weft__fail(WEFT_UNKNOWN, "Prepare() failed: [%d] %s: %s", code, at->sql->message(at->connection), r->query);
  const int n = at->sql->columns(at->statement);
  if (n == it->set->n_part) return WEFT_OK;
  at->sql->finalize(at->statement);
  at->statement = NULL;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "The number of columns in query (%d) must match the number of elements in output_types (%d).", n,
                    it->set->n_part);
}

/* Reads a column.  As in TensorFlow, numbers that do not fit are truncated, and NULL becomes 0 or "". */
static weft_err read_column(const rows_at *at, int column, weft_tensor *out, weft_dtype type) {
  WEFT_TRY(weft__tensor_init(out, type, &SHAPE_SCALAR));
  if (type == WEFT_STRING) {
    const void *data = at->sql->blob(at->statement, column);
    const int size = at->sql->bytes(at->statement, column);
    return weft__str_set(&TENSOR_DATA(out, str)[0], data, data && size > 0 ? (size_t)size : 0);
  }
  if (type == WEFT_DOUBLE) {
    TENSOR_DATA(out, double)[0] = at->sql->real(at->statement, column);
    return WEFT_OK;
  }
  const int64_t v = at->sql->integer(at->statement, column);
  if (type == WEFT_BOOL)
    TENSOR_DATA(out, bool)[0] = v != 0;
  else
    memcpy(out->data, &v, weft__dtype_size(type)); /* copies the low bytes, because the machine is little-endian */
  return WEFT_OK;
}

enum { INSTRUCTIONS_PER_CHECK = 100000 }; /* about a millisecond */

static int rows_is_over(void *st) { return weft__step_check_time(st) != WEFT_OK; }

/* Runs the query up to its next row.  A query may compute for as long as it likes before it has one. */
static weft_err rows_step(rows_at *at, const step *st, int *code) {
  void *arg = (void *)(uintptr_t)st;
  at->sql->on_progress(at->connection, INSTRUCTIONS_PER_CHECK, rows_is_over, arg);
  *code = at->sql->step(at->statement);
  at->sql->on_progress(at->connection, 0, NULL, NULL);
  return *code == SQLITE_FINISHED || *code == SQLITE_ROW_READY ? WEFT_OK : weft__step_check_time(st);
}

static weft_err rows_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  rows_at *at = (rows_at *)it;
  *end = at->over;
  if (at->over) return WEFT_OK;
  if (!at->statement) WEFT_TRY(rows_open(it));
  int code;
  WEFT_TRY(rows_step(at, st, &code));
  if (code == SQLITE_FINISHED) {
    *end = at->over = true;
    return WEFT_OK;
  }
  if (code != SQLITE_ROW_READY)
    return weft__fail(WEFT_UNKNOWN, "Step() failed: [%d] %s: %s", code, at->sql->message(at->connection),
                      ((rows *)it->set)->query);
  for (int i = 0; i < it->set->n_part; i++) WEFT_TRY(read_column(at, i, &out[i], it->set->type[i]));
  return WEFT_OK;
}

static const dataset_kind rows_kind = {
    "Sql", sizeof(rows), sizeof(rows_at), .destroy = rows_destroy, .next = rows_next, .finish = rows_finish};

static bool is_column_type(weft_dtype t) {
  return t == WEFT_STRING || t == WEFT_INT8 || t == WEFT_INT16 || t == WEFT_INT32 || t == WEFT_INT64 ||
         t == WEFT_UINT8 || t == WEFT_UINT16 || t == WEFT_BOOL || t == WEFT_DOUBLE;
}

static weft_err dataset_sql_check_rows(const kernel *k, const dataset *d) {
  const str *driver = &TENSOR_DATA(k->in[0], str)[0];
  if (driver->size != 6 || memcmp(driver->data, "sqlite", 6) != 0)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "The database type, %.*s, is not supported by SqlDataset. The set of supported databases is: "
                      "{'sqlite'}.",
                      weft__int_sat(driver->size), driver->size ? driver->data : "");
  for (int i = 0; i < d->n_part; i++)
    if (!is_column_type(d->type[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, DT_INT32, "
                        "DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE ");
  return WEFT_OK;
}

static weft_err dataset_sql_rows_cpu(kernel *k) {
  dataset *d = NULL;
  static const char *const names[] = {"driver_name", "data_source_name", "query"};
  for (int i = 0; i < 3; i++) WEFT_TRY(weft__kernel_scalar(k, i, names[i]));
  WEFT_TRY(weft__dataset_of(k, &rows_kind, 0, &d));
  rows *r = (rows *)d;
  weft_err err = dataset_sql_check_rows(k, d);
  if (!err && (!(r->path = weft__kernel_strdup(k, 1)) || !(r->query = weft__kernel_strdup(k, 2)))) err = WEFT_OOM;
  return weft__dataset_out(k, d, err);
}

#define SQL_ARGS                                                                                                       \
  "(driver_name:string, data_source_name:string, query:string) -> (handle:variant) | " OUTPUTS " ; stateful"

OPS(dataset_sql) = {
    {"SqlDataset" SQL_ARGS, "The rows that a query gives.", DATASET_FLAGS, .cpu = dataset_sql_rows_cpu},
    {"ExperimentalSqlDataset" SQL_ARGS, "The rows that a query gives.", DATASET_FLAGS, .cpu = dataset_sql_rows_cpu},
    {.scenario = "tests/python/test_data_ops.py"},
};
