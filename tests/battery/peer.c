/* peer.c - runs every op while another thread writes to its inputs.
 *
 * Tensors in shared memory can change while a kernel reads them.  Here a second thread plays the other process: it
 * overwrites the elements of one input after the other with invalid numbers, and restores them, while the case runs
 * repeatedly.  The result of the op does not matter, but it must not read or write outside its tensors.  An invalid
 * index is far out of range, so that a plain build ends with a signal and a build with AddressSanitizer with a
 * report. */
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/battery/battery.h"
#include <pthread.h>
#include <stdio.h>

enum { INPUT_NS = 4 * 1000 * 1000, LARGEST = 64 << 20 };

typedef struct peer {
  weft_tensor *t;
  atomic_bool stop;
} peer;

static const uint64_t wild_words[] = {UINT64_C(0x0000070000000700), UINT64_C(0x7f7fffff7f7fffff), UINT64_MAX,
                                      UINT64_C(0x8000000080000000), UINT64_C(0x3fffffff3fffffff)};

/* The peer writes as the shared memory's other side does: whole elements, in no order with anything here. */
__attribute__((no_sanitize("thread"))) static void write_element(weft_tensor *t, int64_t i, const void *from) {
  const size_t size = weft__dtype_size(t->dtype);
  volatile uint8_t *to = (volatile uint8_t *)t->data + (size_t)i * size;
  if (size == 4)
    *(volatile uint32_t *)to = *(const uint32_t *)from;
  else if (size == 8)
    *(volatile uint64_t *)to = *(const uint64_t *)from;
  else
    for (size_t b = 0; b < size; b++) to[b] = ((const uint8_t *)from)[b];
}

static void *write_wildly(void *arg) {
  peer *p = arg;
  const int64_t n = weft__tensor_count(p->t);
  const size_t size = weft__dtype_size(p->t->dtype);
  uint64_t right[2], wild[2];
  for (uint64_t turn = 0; !atomic_load_explicit(&p->stop, memory_order_relaxed); turn++) {
    const int64_t i = (int64_t)(turn % (uint64_t)n);
    memcpy(right, (char *)p->t->data + (size_t)i * size, size);
    wild[0] = wild[1] = wild_words[turn / 7 % (sizeof wild_words / sizeof *wild_words)];
    if (p->t->dtype == WEFT_BOOL) wild[0] = !(right[0] & 1);
    write_element(p->t, i, wild);
    for (volatile int wait = 0; wait < 40; wait++) continue;
    write_element(p->t, i, right);
    for (volatile int wait = 0; wait < 40; wait++) continue;
  }
  return NULL;
}

static void run_for(const case_graph *cg, weft_session *s, const test_case *c, int64_t ns) {
  weft_out fetch[MAX_INPUTS];
  const int n = battery_outputs(cg, fetch);
  const int64_t end = weft__clock_now_ns() + ns;
  for (int round = 0; round < 2 || (round < 2000 && weft__clock_now_ns() < end); round++) {
    weft_tensor *got[MAX_INPUTS] = {NULL};
    (void)battery_run(cg, s, c, n, fetch, got); /* an error is a good answer */
    for (int i = 0; i < n; i++) weft_tensor_destroy(got[i]);
  }
}

static void ask_input(const case_graph *cg, weft_session *s, test_case *c, int i) {
  weft_tensor *was = c->in[i].value, *exposed = NULL;
  pthread_t thread;
  if (weft__tensor_create(&exposed, was->dtype, &was->shape) != WEFT_OK) return;
  (void)weft__elements_copy(was->dtype, exposed->data, was->data, weft__tensor_count(was));
  exposed->buf->peer_writes = true;
  peer p = {.t = exposed};
  c->in[i].value = exposed;
  if (pthread_create(&thread, NULL, write_wildly, &p) == 0) {
    run_for(cg, s, c, INPUT_NS);
    atomic_store(&p.stop, true);
    pthread_join(thread, NULL);
  } else {
    battery_fail(c, "no thread for the peer");
  }
  c->in[i].value = was;
  weft_tensor_destroy(exposed);
}

int ask_peer(const op_table *ops, const op *o, const op_case *oc) {
  test_case c;
  case_graph cg;
  weft_session *s = NULL;
  int n = 0;
  weft__alloc_fail_above(LARGEST); /* an invalid size must not take the memory of the machine */
  if (oc->out && strncmp(oc->out, "error ", 6) == 0) return 0;
  if (case_read(&c, o, oc) != WEFT_OK) return 0; /* other tests of the battery report a case that cannot be read */
  weft_err err = case_build(&cg, ops, &c);
  if (!err) s = battery_session(&cg, &c, 2);
  if (s) err = battery_init(&cg, s, &c);
  for (int i = 0; s && i < c.n_in && !err; i++) {
    const weft_tensor *t = c.in[i].value;
    if (c.in[i].is_variable || !weft__dtype_is_plain(t->dtype) || weft__tensor_count(t) < 1) continue;
    printf("%s { %s } input %d\n", o->opdef.name, oc->in, i); /* the last one before a crash */
    ask_input(&cg, s, &c, i);
    n++;
  }
  weft__session_destroy(s);
  weft__graph_destroy(cg.g);
  case_finish(&c);
  return n;
}
