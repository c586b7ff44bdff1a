/* summary_db_writer.c - CreateSummaryDbWriter: the summaries of a writer go to a SQLite database
 * (state/summary_db.h). */
#include "ops/summary/summary.h"

static weft_err create_db_writer_cpu(kernel *k) {
  static const char *const names[] = {"db_uri", "experiment_name", "run_name", "user_name"};
  summary_writer *w = NULL;
  char *given[4] = {0};
  WEFT_TRY(weft__summary_find_writer(k, &w));
  weft_err err = WEFT_OK;
  for (int i = 0; i < 4 && !err; i++) err = weft__summary_own_text(k, i + 1, names[i], &given[i]);
  const summary_db_spec spec = {given[0], given[1], given[2], given[3]};
  if (!err) err = weft__kernel_in(k, weft__summary_writer_open_db(w, &spec));
  for (int i = 0; i < 4; i++) weft__free(given[i]);
  return err;
}

OPS(summary_db_writer) = {
    {"CreateSummaryDbWriter(writer:resource, db_uri:string, experiment_name:string, run_name:string, user_name:string) "
     "-> () ; stateful",
     "Gives the writer a SQLite database, unless it has a file.", .infer = weft__infer_none,
     .cpu = create_db_writer_cpu},
    {.scenario = "tests/parity/test_summary_db.py"},
};
