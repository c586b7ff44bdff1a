/* inspect.h - what `weft inspect` can look at: one function per kind of file.  Each gives an exit code. */
#ifndef WEFT_CLI_INSPECT_H
#define WEFT_CLI_INSPECT_H

#include "command.h"

/* inspect_checkpoint.c; name: of the one tensor to show, or NULL. */
int inspect_checkpoint(const char *prefix, const char *name);
/* Says what differs: DONE if nothing does, FAILED otherwise. */
int inspect_difference(const char *prefix_a, const char *prefix_b);
/* "[784,500]", in a buffer of the caller's. */
const char *inspect_shape(char *to, size_t room, int rank, const int64_t *dims);
enum { SHAPE_TEXT = 128 };

/* inspect_file.c */
int inspect_graph(const char *path, bool is_meta);
int inspect_events(const char *path, const char *tag); /* a file or a folder; tag: the only one to show, or NULL */
int inspect_records(const char *path);
int inspect_idx(const char *path);

#endif
