/* collective_step.c - asks the leader for step ids.  It has no state; the worker's table of collective ops keeps the
 * ids. */
#include "cluster/master/collective_step.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/clock.h"
#include "cluster/master/broadcast.h"
#include "rpc.pb-c.h"
#include "state/collective.h"
#include <stdlib.h>
#include <time.h>

#define GET_STEP_SEQUENCE "/tensorflow.WorkerService/GetStepSequence"
enum { RETRY_MS = 100 };

/* ---- keys ---- */

static const Tensorflow__AttrValue *instance_key_of(const Tensorflow__NodeDef *n) {
  for (size_t i = 0; strncmp(n->op, "Collective", strlen("Collective")) == 0 && i < n->n_attr; i++)
    if (strcmp(n->attr[i]->key, "instance_key") == 0) return n->attr[i]->value;
  return NULL;
}

weft_err weft__collective_keys_add(collective_keys *seen, const Tensorflow__GraphDef *g) {
  for (size_t i = 0; i < g->n_node; i++) {
    const Tensorflow__AttrValue *v = instance_key_of(g->node[i]);
    if (!v || v->value_case != TENSORFLOW__ATTR_VALUE__VALUE_I) continue;
    WEFT_TRY(WEFT_ARRAY_RESERVE(seen->key, seen->capacity, seen->n + 1));
    seen->key[seen->n++] = weft__int_sat(v->i);
  }
  return WEFT_OK;
}

static int compare_keys(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

int64_t weft__collective_keys_finish(collective_keys *seen) {
  uint64_t hash = UINT64_C(0x8774aa605c729c72);
  if (seen->n) qsort(seen->key, (size_t)seen->n, sizeof *seen->key, compare_keys);
  for (int i = 0; i < seen->n; i++) {
    const uint64_t key = (uint64_t)(int64_t)seen->key[i];
    if (i == 0 || seen->key[i] != seen->key[i - 1])
      hash = key ^ (hash + UINT64_C(0x9e3779b97f4a7800) + (key << 10) + (key >> 4));
  }
  const int64_t made = seen->n ? (int64_t)hash : 0;
  weft__free(seen->key);
  *seen = (collective_keys){0};
  return made;
}

/* ---- step ids ---- */

static weft_err read_sequence(message *reply, int64_t graph_key, int64_t *id) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, reply, &tensorflow__get_step_sequence_response__descriptor));
  const Tensorflow__GetStepSequenceResponse *p = (const Tensorflow__GetStepSequenceResponse *)m;
  weft_err err =
      weft__fail(WEFT_INTERNAL, "the leader of collective ops named no step for graph key %lld", (long long)graph_key);
  for (size_t i = 0; i < p->n_step_sequence; i++)
    if (p->step_sequence[i]->graph_key == graph_key) {
      *id = p->step_sequence[i]->next_step_id;
      err = WEFT_OK;
    }
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err ask_once(peer *leader, int64_t graph_key, const call_opts *how, int64_t *id) {
  broadcast_call one = {.to = leader};
  Tensorflow__GetStepSequenceRequest q = TENSORFLOW__GET_STEP_SEQUENCE_REQUEST__INIT;
  q.n_graph_key = 1;
  q.graph_key = &graph_key;
  weft_err err = weft__message_pack(&one.request, &q.base);
  if (!err) err = weft__broadcast(&one, 1, GET_STEP_SEQUENCE, how);
  if (!err) err = read_sequence(&one.reply, graph_key, id);
  weft__broadcast_finish(&one, 1);
  return err;
}

/* The leader may start later than this task. */
static weft_err collective_ask_leader(peer *leader, int64_t graph_key, int64_t deadline_ns, cancel *c, int64_t *id) {
  for (;;) {
    const call_opts how = {.cancel = c, .timeout_ms = weft__broadcast_timeout_ms(deadline_ns)};
    const weft_err err = ask_once(leader, graph_key, &how, id);
    if (err != WEFT_UNAVAILABLE || weft__cancel_fired(c)) return err;
    if (deadline_ns && weft__clock_now_ns() > deadline_ns) return err;
    nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
  }
}

weft_err weft__collective_step_begin(worker *w, int64_t graph_key, int64_t deadline_ns, cancel *c, int64_t *id) {
  collectives *table = weft__worker_collectives(w);
  peer *leader = weft__worker_collective_leader(w);
  bool known;
  if (!leader) {
    *id = weft__collective_make_next_step(table, graph_key);
  } else {
    *id = weft__collective_next_step(table, graph_key, &known);
    if (!known) {
      WEFT_TRY(collective_ask_leader(leader, graph_key, deadline_ns, c, id));
      weft__collective_set_next_step(table, graph_key, *id);
    }
  }
  weft__worker_forget_failed_step(w, *id);
  return WEFT_OK;
}

/* After these errors sessions are made again and repeat the step, so that other members may wait for it. */
static bool is_repeated(weft_err err) {
  return err == WEFT_ABORTED || err == WEFT_UNAVAILABLE || err == WEFT_CANCELLED;
}

void weft__collective_step_end(worker *w, int64_t graph_key, int64_t id, weft_err err) {
  if (err && !is_repeated(err)) weft__worker_keep_failed_step(w, id, err);
  weft__collective_end_step(weft__worker_collectives(w), graph_key, id, err != WEFT_OK);
  if (!err)
    weft__worker_keep_step(w, id);
  else if (is_repeated(err))
    weft__worker_cleanup_step(w, id);
}
