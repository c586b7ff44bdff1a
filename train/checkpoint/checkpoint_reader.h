/* checkpoint_reader.h - the contents of a checkpoint, without a graph: names, types, shapes, values. */
#ifndef WEFT_TRAIN_CHECKPOINT_CHECKPOINT_READER_H
#define WEFT_TRAIN_CHECKPOINT_CHECKPOINT_READER_H

#include "io/slices.h"
#include "weft/train.h"

typedef struct checkpoint_item {
  char *name;
  bundle_entry entry;
} checkpoint_item;

struct weft_checkpoint {
  bundle_reader *bundle; /* for version 2, or NULL */
  slices_reader *slices; /* for version 1, or NULL */
  checkpoint_item *item; /* sorted by name */
  int n;
  int64_t capacity;
};

/* Opens the files of a checkpoint of either version; the caller closes it.  Returns NOT_FOUND, or DATA_LOSS if they are
 * damaged. */
weft_err weft__checkpoint_open(weft_checkpoint **out, const char *prefix);
void weft__checkpoint_close(weft_checkpoint *c);
/* Reads a tensor, which the caller destroys.  Returns NOT_FOUND if the checkpoint has none of that name. */
weft_err weft__checkpoint_read(weft_checkpoint *c, const char *name, weft_tensor **out);

#endif
