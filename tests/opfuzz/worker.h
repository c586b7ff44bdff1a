/* worker.h - child processes that run graphs, and the parent that restarts them. */
#ifndef WEFT_TESTS_OPFUZZ_WORKER_H
#define WEFT_TESTS_OPFUZZ_WORKER_H

#include "tests/opfuzz/opfuzz.h"

enum { MAX_OPS = 2000, MAX_WORKERS = 8 };

typedef struct options {
  uint64_t seed;
  int64_t from, count, seconds;
  const char *op, *server, *serve, *dump, *replay;
  int workers, at_least;
  bool only, list;
} options;

typedef struct shared { /* between the parent and its workers */
  int64_t tried[MAX_OPS], computed[MAX_OPS];
  int64_t graphs, results;
  int findings;
  struct {
    volatile int64_t index, began_ns;
  } now[MAX_WORKERS]; /* what each worker is at */
} shared;

/* Graph `index`; both are to be finished also after a failure. */
weft_err fuzz_graph_at(const options *o, const op_table *table, int64_t index, model *m, request *q);
void fuzz_count(shared *s, const request *q, bool computed);
const char *fuzz_op_name(int i);

void fuzz_all(const options *o, const op_table *table, shared *s);
int fuzz_one(const options *o, const op_table *table, shared *s);
int replay(const options *o, const op_table *table, shared *s);

#endif
