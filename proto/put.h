/* put.h - writes protobuf messages field by field, for messages that the build has no descriptor of.
 *
 * The text collects the bytes; its `failed` says if memory was short.  Not thread safe, as the text. */
#ifndef WEFT_PROTO_PUT_H
#define WEFT_PROTO_PUT_H

#include "base/text.h"
#include <stdint.h>

/* Each appends to t, which records a failure (text.failed).  This one appends no tag. */
void weft__put_varint(text *t, uint64_t v);
void weft__put_int(text *t, int field, int64_t v);                       /* a varint field */
void weft__put_bytes(text *t, int field, const char *data, size_t size); /* a string or bytes field */
void weft__put_message(text *t, int field, text *message);               /* a message field; empties `message` */

#endif
