/* bundle_entry.h - the index of a bundle in memory, which bundle.c writes and merges.
 *
 * Include cycle with io/bundle: this header is its private part, and needs the types of its public one. */
#ifndef WEFT_IO_BUNDLE_ENTRY_H
#define WEFT_IO_BUNDLE_ENTRY_H

#include "base/arena.h"
#include "io/bundle.h"

typedef struct entry_row {
  bytes key;
  int order; /* order of insertion */
  Tensorflow__BundleEntryProto proto;
} entry_row;

typedef struct entry_list {
  entry_row *row;
  int n;
  int64_t room;
  arena arena; /* owns keys, shapes and slices */
} entry_list;

/* Appends a new row with an empty proto.  The pointer is valid until the next call. */
weft_err weft__entry_add(entry_list *l, bytes key, entry_row **out);
/* Sorts by key and merges rows that name slices of one tensor.  Other duplicates fail with INVALID_ARGUMENT, with
 * `what` before the key and `after` behind it. */
weft_err weft__entry_merge(entry_list *l, const char *what, const char *after);
/* Writes header and rows to PREFIX.index, synced but not renamed yet. */
weft_err weft__entry_write(entry_list *l, const char *path, int shards, file_writer **out);
void weft__entry_finish(entry_list *l);

/* The caller frees these paths with weft__free; NULL if memory is short. */
char *weft__bundle_data_path(const char *prefix, int shard, int shards);
char *weft__bundle_index_path(const char *prefix);
/* Reads the header of an index and stores the number of shards.  Fails with DATA_LOSS, or UNIMPLEMENTED (big endian,
 * newer versions). */
weft_err weft__bundle_header(table_reader *t, const char *path, int *shards);
/* The last steps of writing a bundle: remove the old index, rename the data file, rename the new index. */
weft_err weft__bundle_unlink_index(const char *index);

#endif
