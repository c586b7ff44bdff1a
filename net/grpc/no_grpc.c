/* no_grpc.c - a build without gRPC: everything runs in one process, and connecting or listening fails with
 * UNIMPLEMENTED. */
#include "net/internal.h"

#ifndef WEFT_HAVE_GRPC
static weft_err no_grpc_fail(const char *what, const char *address) {
  return weft__fail(WEFT_UNIMPLEMENTED, "%s %s: this Weft was built without gRPC, which clusters need", what, address);
}

weft_err weft__grpc_listener_create(grpc_listener **out, const listener_opts *opts, rpc_handler *fn, void *arg) {
  (void)fn, (void)arg;
  *out = NULL;
  return no_grpc_fail("Listening on", opts->host);
}

weft_err weft__grpc_connection_create(grpc_connection **out, const char *address, const channel_opts *opts) {
  (void)opts;
  *out = NULL;
  return no_grpc_fail("Connecting to", address);
}

int weft__grpc_listener_port(const grpc_listener *l) { return l ? 0 : 0; }
bool weft__grpc_listener_destroy(grpc_listener *l) { return l == NULL; }

bool weft__grpc_response_host(char *buf, size_t room) {
  (void)buf, (void)room;
  return false;
}
#endif
