/* server_fuzz.c - bytes on a connection that has shown the key: calls that are answered, or the end of the connection.
 *
 * The first byte chooses TCP or the unix socket.  The handler reads each request as a tensor and sends it back.
 * fuzz runs: 3000 */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/fast/conn.h"
#include "net/fast/fast.h"
#include "net/fast/socket.h"
#include "net/transport.h"
#include "peer.pb-c.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_and_answer(void *arg, call *c) {
  message response = {0};
  received_tensor got = {0};
  (void)arg;
  if (weft__received_tensor_read(&got, weft__call_request(c)) == WEFT_OK) {
    if (got.tensor && weft__received_tensor_write(&response, got.tensor, false) != WEFT_OK) abort();
    weft_tensor_destroy(got.tensor);
  }
  weft__call_respond(c, WEFT_OK, &response);
}

static const Weft__FastEndpoint *listen_once(void) {
  static ProtobufCMessage *endpoint;
  static fast_listener *fast;
  loop_group *loops;
  message packed = {0};
  if (endpoint) return (const Weft__FastEndpoint *)endpoint;
  if (weft__transport_retain_loops(&loops) != WEFT_OK) abort();
  if (weft__fast_listener_create(&fast, loops, &(listener_opts){.host = "127.0.0.1"}, read_and_answer, NULL) != WEFT_OK)
    abort();
  if (weft__fast_listener_endpoint(fast, &packed) != WEFT_OK) abort();
  if (weft__message_unpack(&endpoint, &packed, &weft__fast_endpoint__descriptor) != WEFT_OK) abort();
  weft__message_finish(&packed);
  return (const Weft__FastEndpoint *)endpoint;
}

/* libFuzzer's timer interrupts poll, which does not resume by itself. */
static bool wait_for(int fd, short events) {
  const int64_t end = weft__clock_after_ms(20000);
  int n;
  do {
    const int64_t left = (end - weft__clock_now_ns()) / NS_PER_MS;
    n = poll(&(struct pollfd){.fd = fd, .events = events}, 1, left > 0 ? (int)left : 0); /* fits: at most 20000 */
  } while (n < 0 && errno == EINTR);
  return n == 1;
}

static void greet(int fd, const Weft__FastEndpoint *endpoint) {
  uint8_t bytes[sizeof(frame_head) + 2 * FAST_KEY_SIZE + 1];
  frame_head h = {.magic = FRAME_MAGIC, .kind = FRAME_GREETING, .text = 2 * FAST_KEY_SIZE};
  memcpy(bytes, &h, sizeof h);
  weft__socket_key_text((char *)bytes + sizeof h, endpoint->key.data);
  if (send(fd, bytes, sizeof bytes - 1, MSG_NOSIGNAL) != (ssize_t)sizeof bytes - 1) abort();
  if (!wait_for(fd, POLLIN) || recv(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.kind != FRAME_GREETING) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Weft__FastEndpoint *endpoint = listen_once();
  char responses[4096];
  int fd = -1;
  ssize_t n = 1;
  if (size == 0) return 0;
  if ((data[0] & 1 ? weft__socket_connect_tcp(&fd, "127.0.0.1", endpoint->port)
                   : weft__socket_connect_unix(&fd, endpoint->local)) != WEFT_OK)
    abort();
  if (!wait_for(fd, POLLOUT)) abort();
  greet(fd, endpoint);
  (void)!send(fd, data + 1, size - 1, MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
  while (n > 0) { /* until the server has closed, which it does at the end of what it was sent */
    if (!wait_for(fd, POLLIN)) abort();
    n = recv(fd, responses, sizeof responses, 0);
  }
  close(fd);
  return 0;
}
