/* table.c - the op table of the process.  It is created once and never changed. */
#include "ops/all.h"
#include <pthread.h>

static struct {
  pthread_once_t once;
  op_table *table;
  status failed;
} all = {.once = PTHREAD_ONCE_INIT};

static void table_make(void) { weft__status_update(&all.failed, weft__op_table_create(&all.table, weft__ops_all())); }

weft_err weft__ops_table(const op_table **out) {
  pthread_once(&all.once, table_make);
  *out = all.table;
  return weft__status_raise(&all.failed);
}
