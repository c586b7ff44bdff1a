/* inflate.h - unpacks compressed messages of callers that are not authenticated.
 *
 * gRPC unpacks a compressed message while it arrives, and 64 KB may become 64 MB.  So a listener without token and TLS
 * has gRPC leave messages packed, and unpacks them here, up to a limit that depends on the packed size. */
#ifndef WEFT_NET_GRPC_INFLATE_H
#define WEFT_NET_GRPC_INFLATE_H

#include "net/message.h"

#ifdef WEFT_HAVE_GRPC
#include <grpc/grpc.h>

/* Returns true if this build can unpack messages, which needs zlib. */
bool weft__inflate_available(void);
/* Makes a message of a buffer that gRPC left packed (gzip or deflate).  The buffer stays the caller's.
 * RESOURCE_EXHAUSTED: it would grow beyond the limit; INVALID_ARGUMENT: it is not packed as it says. */
weft_err weft__inflate_to_message(message *out, grpc_byte_buffer *b);
#endif

#endif
