/* no_grpc.c - a build without gRPC: everything runs in one process, and asking for more says so. */
#include "net/internal.h"

#ifndef WEFT_HAVE_GRPC
static weft_err refuse(const char *what, const char *address) {
  return weft__fail(WEFT_UNIMPLEMENTED, "%s %s: this Weft was built without gRPC, which clusters need", what, address);
}

weft_err weft__grpc_listen(port **out, const listener_opts *opts, rpc_handler *fn, void *arg) {
  (void)fn, (void)arg;
  *out = NULL;
  return refuse("Listening on", opts->host);
}

weft_err weft__grpc_connect(line **out, const char *address, const channel_opts *opts) {
  (void)opts;
  *out = NULL;
  return refuse("Connecting to", address);
}

bool weft__grpc_host(char *buf, size_t room) {
  (void)buf, (void)room;
  return false;
}
#endif
