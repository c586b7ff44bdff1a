/* summary_db.h - the SQLite database that a summary writer fills, with the tables of CreateSummaryDbWriter.
 *
 * A run of an experiment of a user has tags, and a tag has a tensor for each step.  The rows of user, experiment and
 * run are made with the first tensor.  Not thread safe: its owner guards it. */
#ifndef WEFT_STATE_SUMMARY_DB_H
#define WEFT_STATE_SUMMARY_DB_H

#include "tensor/tensor.h"
#include "tf.pb-c.h"

typedef struct summary_db summary_db;

typedef struct summary_db_spec {
  const char *path, *experiment, *run, *user; /* "" for no such row */
} summary_db_spec;

/* What is written of a tag, besides its tensors, when it is first used. */
typedef struct summary_tag {
  const char *name;
  size_t size;
  const Tensorflow__SummaryMetadata *metadata; /* NULL: none */
  const char *plugin;                          /* taken if the metadata name none */
} summary_tag;

/* Opens the file, and creates it and its tables if they are missing. */
weft_err weft__summary_db_create(summary_db **out, const summary_db_spec *spec);
/* Says when the run was finished, and closes the file.  Does nothing for NULL. */
weft_err weft__summary_db_destroy(summary_db *db);

/* Writes a serialized Event: each value of its summary as a tensor, and its graph. */
weft_err weft__summary_db_event(summary_db *db, const void *event, size_t size);
/* Writes one tensor.  Returns UNIMPLEMENTED for types that TensorFlow does not write. */
weft_err weft__summary_db_tensor(summary_db *db, const summary_tag *tag, int64_t at, const weft_tensor *x);

#endif
