/* lmdb.h - reads LMDB databases: files with a B+tree of keys and values, sorted by key.
 *
 * It reads the unnamed database of an environment that LMDB 0.9 wrote on a 64-bit little-endian machine.  It takes no
 * lock: the file must not be written meanwhile, as TensorFlow demands too.  A reader belongs to one thread at a time.
 */
#ifndef WEFT_IO_LMDB_H
#define WEFT_IO_LMDB_H

#include "io/file.h"

typedef struct lmdb_reader lmdb_reader;

/* Opens a file, or the file data.mdb of a folder.  Returns PERMISSION_DENIED if that file is in no allowed directory
 * (io/confine.h), INVALID_ARGUMENT if it is no LMDB file, UNIMPLEMENTED for databases with several values for a key. */
weft_err weft__lmdb_open(lmdb_reader **out, const char *path);
/* Replaces *key and *value by the next pair, or sets *end.  Returns DATA_LOSS if the file is damaged. */
weft_err weft__lmdb_next(lmdb_reader *r, text *key, text *value, bool *end);
void weft__lmdb_close(lmdb_reader *r); /* does nothing for NULL */

#endif
