/* conn_fuzz.c - bytes on a connection: whole frames or the loss of it, and every frame is as its head says. */
#include "base/alloc.h"
#include "net/fast/conn.h"
#include "net/transport.h"
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sem_t gone;

static bool check(conn *c, const frame_head *h, const char *text, message *body) {
  size_t sum = 0;
  for (int i = 0; i < body->n_piece; i++) sum += weft__message_piece(body, i)->size;
  if (sum != body->size || sum != h->body || body->n_piece != h->n_piece || text[h->text] != 0) abort();
  if (!c->authenticated && sum > 0) abort();
  c->authenticated = true;
  return true;
}

static void lost(conn *c, const char *why) {
  (void)why;
  weft__conn_release(c);
}

static void destroy(conn *c) {
  weft__conn_finish(c);
  weft__free(c);
  sem_post(&gone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const conn_callbacks callbacks = {check, lost, destroy};
  static loop_group *loops;
  int ends[2];
  if (!loops && (sem_init(&gone, 0, 0) != 0 || weft__transport_retain_loops(&loops) != WEFT_OK)) abort();
  conn *c = weft__alloc_zero(1, sizeof *c);
  if (!c || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) abort();
  c->authenticated = size > 0 && data[size - 1] & 1;
  weft__conn_init(c, &callbacks, ends[0]);
  if (weft__conn_start(c, loops) != WEFT_OK) abort();
  (void)!send(ends[1], data, size, MSG_NOSIGNAL);
  close(ends[1]);
  sem_wait(&gone);
  return 0;
}
