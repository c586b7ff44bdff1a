/* external_port.c - calls gRPC's handler of external connections, a C++ object with one method.
 *
 * The class (grpc_core::TcpServerFdHandler) is not in gRPC's public headers, but has not changed since it was added in
 * 2019: a virtual destructor, then Handle(int listener_fd, int fd, grpc_byte_buffer *pending_read).  By the C++ ABI of
 * Linux an object begins with a pointer to its virtual functions, and a destructor takes two places.  tests/cluster
 * makes TLS connections through it, so a release that differs fails there.
 *
 * No state of its own, no locks. */
#include "net/grpc/external_port.h"

#ifdef WEFT_HAVE_GRPC
static const char port_name[] = "external:weft";

typedef struct external_port_methods {
  void (*destroy[2])(external_port *p); /* gRPC's own concern */
  void (*handle)(external_port *p, int listen_fd, int fd, grpc_byte_buffer *pending_read);
} external_port_methods;

struct external_port {
  const external_port_methods *methods;
};

/* gRPC keeps a copy of the argument; it copies the pointer and owns nothing. */
static void *argument_copy(void *p) { return p; }
static void argument_destroy(void *p) { (void)p; }
static int argument_compare(void *p, void *q) { return (p > q) - (p < q); }

void weft__external_port_args(core_args *a, external_port **out) {
  static const grpc_arg_pointer_vtable table = {argument_copy, argument_destroy, argument_compare};
  *out = NULL;
  a->arg[a->all.num_args++] =
      (grpc_arg){.type = GRPC_ARG_POINTER, .key = (char *)(uintptr_t)port_name, .value.pointer = {(void *)out, &table}};
  a->all.args = a->arg;
}

bool weft__external_port_add(grpc_server *server, grpc_server_credentials *creds, external_port *const *out) {
  grpc_server_add_http2_port(server, port_name, creds); /* returns no number: the port is only a name */
  return *out != NULL;
}

void weft__external_port_hand_over(external_port *p, int listen_fd, int fd) {
  p->methods->handle(p, listen_fd, fd, NULL);
}
#endif
