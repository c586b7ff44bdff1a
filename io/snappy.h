/* snappy.h - the Snappy format, for blocks of record files.  The functions keep no state; any thread may call them. */
#ifndef WEFT_IO_SNAPPY_H
#define WEFT_IO_SNAPPY_H

#include "base/status.h"
#include "base/text.h"
#include <stdint.h>

/* Appends the decoded block to *out.  Returns DATA_LOSS if it is damaged, and RESOURCE_EXHAUSTED. */
weft_err weft__snappy_decode(const uint8_t *data, size_t size, text *out);
/* Appends a block that holds the bytes as they are: the format allows it, and any reader understands it. */
void weft__snappy_encode(const void *data, size_t size, text *out);

#endif
