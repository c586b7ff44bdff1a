/* collective.c - collective ops between tasks: the calls CompleteGroup, CompleteInstance, GetStepSequence and RecvBuf,
 * as server and as client.
 *
 * The leader completes the groups and instances of all tasks in its table (state/collective.h).  A buffer waits in the
 * rendezvous of its step under a key that RecvBuf can make from its fields.  There is no lock here but the worker's,
 * which guards the leader. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "cluster/worker/state.h"
#include "kernels/collective/collective.h"
#include <inttypes.h>
#include <stdlib.h>

#define SERVICE "/tensorflow.WorkerService/"
static const char buffer_mark[] = "buf:";

/* ---- asking the leader ---- */

peer *weft__worker_collective_leader(worker *w) {
  pthread_mutex_lock(&w->lock);
  peer *leader = w->leader;
  pthread_mutex_unlock(&w->lock);
  return leader;
}

static weft_err no_leader(const worker *w) {
  return weft__fail(WEFT_FAILED_PRECONDITION, "%s has no leader of collective ops", w->task->name);
}

typedef struct group_question {
  collective_group_fn *fn;
  void *arg;
} group_question;

static weft_err member_of(collective_member *m, const Tensorflow__DeviceAttributes *a) {
  m->attributes_size = tensorflow__device_attributes__get_packed_size(a);
  m->attributes = weft__alloc(m->attributes_size + 1);
  m->device = weft__strdup(a->name);
  m->incarnation = a->incarnation;
  if (!m->attributes || !m->device) return WEFT_OOM;
  tensorflow__device_attributes__pack(a, m->attributes);
  return WEFT_OK;
}

/* TensorFlow 1 sends only the names. */
static weft_err read_members(const Tensorflow__CompleteGroupResponse *p, collective_member *m) {
  weft_err err = WEFT_OK;
  for (size_t i = 0; i < p->n_device_attributes && !err; i++) err = member_of(&m[i], p->device_attributes[i]);
  for (size_t i = 0; i < p->n_device_name && !p->n_device_attributes && !err; i++)
    if (!(m[i].device = weft__strdup(p->device_name[i]))) err = WEFT_OOM;
  return err;
}

static weft_err read_group(const Tensorflow__CompleteGroupResponse *p, collective_group **out) {
  const size_t n = p->n_device_attributes ? p->n_device_attributes : p->n_device_name;
  if (n == 0 || n > INT_MAX || weft__int_sat(n) != p->group_size)
    return weft__fail(WEFT_INTERNAL, "the leader named %zu members of group %d, which has %d", n, p->group_key,
                      p->group_size);
  collective_member *m = weft__alloc_zero(n, sizeof *m);
  if (!m) return WEFT_OOM;
  const weft_err err = read_members(p, m);
  if (!err) return weft__collective_group_create(out, p->group_key, p->device_type, p->group_size, m);
  for (size_t i = 0; i < n; i++) {
    weft__free(m[i].device);
    weft__free(m[i].attributes);
  }
  weft__free(m);
  return err;
}

static void group_on_reply(void *arg, weft_err err, message *reply) {
  group_question q = *(group_question *)arg;
  ProtobufCMessage *m = NULL;
  collective_group *g = NULL;
  weft__free(arg);
  if (!err) err = weft__message_unpack(&m, reply, &tensorflow__complete_group_response__descriptor);
  if (!err) err = read_group((const Tensorflow__CompleteGroupResponse *)m, &g);
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  q.fn(q.arg, err, g);
  weft__collective_group_release(g);
}

static weft_err pack_group(message *m, const worker *w, const collective_join *j) {
  Tensorflow__CompleteGroupRequest q = TENSORFLOW__COMPLETE_GROUP_REQUEST__INIT;
  Tensorflow__DeviceAttributes a;
  Tensorflow__DeviceLocality locality;
  char *name = j->member.device;
  const device *d = weft__worker_find_device(w, name);
  if (!d) return weft__fail(WEFT_INTERNAL, "%s is no device of %s", name, w->task->name);
  weft__worker_describe_device(d, &a, &locality);
  q.group_key = j->group_key;
  q.group_size = j->group_size;
  q.device_type = (char *)(uintptr_t)j->device_type;
  q.n_device_name = 1;
  q.device_name = &name;
  q.collective_type = j->type;
  q.device_attributes = &a;
  return weft__message_pack(m, &q.base);
}

static void ask_group(void *arg, const collective_join *j, cancel *c, collective_group_fn *fn, void *fn_arg) {
  worker *w = arg;
  peer *leader = weft__worker_collective_leader(w);
  message m = {0};
  group_question *q = weft__alloc(sizeof *q);
  weft_err err = !q ? WEFT_OOM : leader ? pack_group(&m, w, j) : no_leader(w);
  if (err) {
    weft__free(q);
    weft__message_finish(&m);
    fn(fn_arg, err, NULL);
    return;
  }
  *q = (group_question){fn, fn_arg};
  weft__peer_call(leader, SERVICE "CompleteGroup", &m, &(call_opts){.cancel = c}, group_on_reply, q);
}

typedef struct instance_question {
  collective_instance_fn *fn;
  void *arg;
} instance_question;

static void instance_on_reply(void *arg, weft_err err, message *reply) {
  instance_question q = *(instance_question *)arg;
  ProtobufCMessage *m = NULL;
  weft__free(arg);
  if (!err) err = weft__message_unpack(&m, reply, &tensorflow__complete_instance_response__descriptor);
  const int source = m ? ((const Tensorflow__CompleteInstanceResponse *)m)->source_rank : -1;
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  q.fn(q.arg, err, source);
}

static weft_err pack_instance(message *m, const collective_join *j) {
  Tensorflow__CompleteInstanceRequest q = TENSORFLOW__COMPLETE_INSTANCE_REQUEST__INIT;
  Tensorflow__TensorShapeProto s = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  Tensorflow__TensorShapeProtoDim dim[WEFT_MAX_RANK], *dims[WEFT_MAX_RANK];
  int32_t offset[COLLECTIVE_SUBDIVS];
  for (int i = 0; i < j->shape.rank; i++) {
    dim[i] = (Tensorflow__TensorShapeProtoDim)TENSORFLOW__TENSOR_SHAPE_PROTO_DIM__INIT;
    dim[i].size = j->shape.dim[i];
    dims[i] = &dim[i];
  }
  s.n_dim = (size_t)j->shape.rank;
  s.dim = dims;
  q.name = (char *)(uintptr_t)j->name;
  q.type = j->type;
  q.data_type = (int32_t)j->dtype;
  q.shape = &s;
  q.group_key = j->group_key;
  q.group_size = j->group_size;
  q.instance_key = j->instance_key;
  q.device_type = (char *)(uintptr_t)j->device_type;
  for (int i = 0; i < j->n_subdiv && i < COLLECTIVE_SUBDIVS; i++)
    offset[q.n_subdiv_offset++] = weft__int_sat(j->subdiv_offset[i]);
  q.subdiv_offset = offset;
  q.device = j->member.device;
  q.is_source = j->is_source;
  return weft__message_pack(m, &q.base);
}

static void ask_instance(void *arg, const collective_join *j, cancel *c, collective_instance_fn *fn, void *fn_arg) {
  worker *w = arg;
  peer *leader = weft__worker_collective_leader(w);
  message m = {0};
  instance_question *q = weft__alloc(sizeof *q);
  weft_err err = !q ? WEFT_OOM : leader ? pack_instance(&m, j) : no_leader(w);
  if (err) {
    weft__free(q);
    weft__message_finish(&m);
    fn(fn_arg, err, -1);
    return;
  }
  *q = (instance_question){fn, fn_arg};
  weft__peer_call(leader, SERVICE "CompleteInstance", &m, &(call_opts){.cancel = c}, instance_on_reply, q);
}

static weft_err collective_describe(void *arg, collective_member *m) {
  const device *d = weft__worker_find_device(arg, m->device);
  Tensorflow__DeviceAttributes a;
  Tensorflow__DeviceLocality locality;
  if (!d) return weft__fail(WEFT_INTERNAL, "%s is no device of this task", m->device);
  weft__worker_describe_device(d, &a, &locality);
  m->incarnation = d->incarnation;
  m->attributes_size = tensorflow__device_attributes__get_packed_size(&a);
  if (!(m->attributes = weft__alloc(m->attributes_size + 1))) return WEFT_OOM;
  tensorflow__device_attributes__pack(&a, m->attributes);
  return WEFT_OK;
}

/* ---- the leader's side ---- */

weft_err weft__worker_open_collectives(worker *w) {
  WEFT_TRY(weft__collectives_get(w->task->resources, &w->collectives));
  weft__collectives_set_describe(w->collectives, &(collective_remote){.describe = collective_describe, .arg = w});
  return WEFT_OK;
}

void weft__worker_close_collectives(worker *w) { weft__collectives_release(w->collectives); }

struct collectives *weft__worker_collectives(worker *w) {
  return w->collectives;
}

weft_err weft__worker_set_collective_leader(worker *w, const char *name) {
  peer *found;
  if (!*name) return WEFT_OK;
  WEFT_TRY(weft__peers_find(w->peers, name, &found));
  const bool self = weft__peer_is_self(found);
  pthread_mutex_lock(&w->lock);
  w->leader = self ? NULL : found;
  pthread_mutex_unlock(&w->lock);
  const collective_remote remote = {ask_group, ask_instance, collective_describe, w};
  weft__collectives_set_remote(w->collectives, self ? NULL : &remote);
  return WEFT_OK;
}

typedef struct served { /* a call that waits for a group or an instance */
  worker *worker;
  call *call;
  ProtobufCMessage *request;
  collective_join join;
} served;

static void served_answer(served *s, weft_err err, message *m) {
  worker *w = s->worker;
  weft__call_respond(s->call, err, m);
  weft__message_finish(m);
  protobuf_c_message_free_unpacked(s->request, NULL);
  weft__free(s->join.member.attributes);
  weft__free(s);
  weft__worker_leave(w);
}

static weft_err write_group(message *m, const collective_group *g) {
  WEFT_TRY(weft__message_add_varint(m, 1, (uint64_t)(int64_t)g->key));
  WEFT_TRY(weft__message_add_varint(m, 2, (uint64_t)g->size));
  WEFT_TRY(weft__message_add_string(m, 3, g->device_type, strlen(g->device_type)));
  WEFT_TRY(weft__message_add_varint(m, 4, (uint64_t)g->n_task));
  for (int i = 0; i < g->size; i++) {
    const collective_member *one = &g->member[i];
    const char *end = strstr(one->device, "/device:");
    WEFT_TRY(weft__message_add_string(m, 5, one->device, strlen(one->device)));
    WEFT_TRY(weft__message_add_string(m, 6, one->device, end ? (size_t)(end - one->device) : strlen(one->device)));
  }
  for (int i = 0; i < g->size; i++)
    if (g->member[i].attributes)
      WEFT_TRY(weft__message_add_string(m, 8, g->member[i].attributes, g->member[i].attributes_size));
  return WEFT_OK;
}

static void served_on_group(void *arg, weft_err err, collective_group *g) {
  message m = {0};
  if (!err) err = write_group(&m, g);
  served_answer(arg, err, &m);
}

static served *served_create(worker *w, call *c, ProtobufCMessage *request) {
  served *s = weft__alloc_zero(1, sizeof *s);
  if (s) {
    *s = (served){.worker = w, .call = c, .request = request};
    return s;
  }
  weft__call_respond(c, WEFT_OOM, NULL);
  protobuf_c_message_free_unpacked(request, NULL);
  weft__worker_leave(w);
  return NULL;
}

static weft_err read_group_request(const Tensorflow__CompleteGroupRequest *q, collective_join *j) {
  Tensorflow__DeviceAttributes *a = q->device_attributes;
  char *name = a ? a->name : q->n_device_name == 1 ? q->device_name[0] : NULL;
  device_spec spec;
  if (q->group_size < 1 || !name || weft__device_parse(&spec, name))
    return weft__fail(WEFT_INVALID_ARGUMENT, "CompleteGroup of group %d with size %d by device '%s'", q->group_key,
                      q->group_size, name ? name : "");
  j->group_key = q->group_key;
  j->group_size = q->group_size;
  j->device_type = q->device_type;
  j->member.device = name;
  if (!a) return WEFT_OK;
  j->member.incarnation = a->incarnation;
  j->member.attributes_size = tensorflow__device_attributes__get_packed_size(a);
  if (!(j->member.attributes = weft__alloc(j->member.attributes_size + 1))) return WEFT_OOM;
  tensorflow__device_attributes__pack(a, j->member.attributes);
  return WEFT_OK;
}

void weft__worker_complete_group(worker *w, call *c, ProtobufCMessage *request) {
  served *s = served_create(w, c, request);
  if (!s) return;
  const weft_err err = read_group_request((const Tensorflow__CompleteGroupRequest *)request, &s->join);
  if (err)
    served_answer(s, err, &(message){0});
  else
    weft__collective_join_group(w->collectives, &s->join, true, weft__call_cancel(c), served_on_group, s);
}

static void served_on_instance(void *arg, weft_err err, int source_rank) {
  served *s = arg;
  message m = {0};
  if (!err) err = weft__message_add_varint(&m, 1, (uint64_t)(int64_t)s->join.instance_key);
  if (!err) err = weft__message_add_varint(&m, 2, (uint64_t)(int64_t)source_rank);
  served_answer(s, err, &m);
}

static void served_on_known_group(void *arg, weft_err err, collective_group *g) {
  served *s = arg;
  if (err)
    served_answer(s, err, &(message){0});
  else
    weft__collective_join_instance(s->worker->collectives, g, &s->join, true, weft__call_cancel(s->call),
                                   served_on_instance, s);
}

static weft_err read_instance_request(const Tensorflow__CompleteInstanceRequest *q, collective_join *j) {
  device_spec spec;
  const size_t rank = q->shape ? q->shape->n_dim : 0;
  if (q->group_size < 1 || !q->device || weft__device_parse(&spec, q->device) || rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "CompleteInstance %d of group %d with size %d by device '%s'",
                      q->instance_key, q->group_key, q->group_size, q->device ? q->device : "");
  j->group_key = q->group_key;
  j->group_size = q->group_size;
  j->instance_key = q->instance_key;
  j->device_type = q->device_type;
  j->member.device = q->device;
  j->type = q->type;
  j->dtype = (weft_dtype)q->data_type;
  j->is_source = q->is_source;
  j->name = q->name;
  j->shape.rank = weft__int_sat(rank);
  for (size_t i = 0; i < rank; i++) j->shape.dim[i] = q->shape->dim[i]->size;
  return WEFT_OK;
}

/* The member has joined its group before, so that the group is complete and answers at once. */
void weft__worker_complete_instance(worker *w, call *c, ProtobufCMessage *request) {
  served *s = served_create(w, c, request);
  if (!s) return;
  const weft_err err = read_instance_request((const Tensorflow__CompleteInstanceRequest *)request, &s->join);
  if (err)
    served_answer(s, err, &(message){0});
  else
    weft__collective_join_group(w->collectives, &s->join, true, weft__call_cancel(c), served_on_known_group, s);
}

/* ---- step ids ---- */

weft_err weft__worker_get_step_sequence(worker *w, const ProtobufCMessage *request, message *answer) {
  const Tensorflow__GetStepSequenceRequest *q = (const Tensorflow__GetStepSequenceRequest *)request;
  for (size_t i = 0; i < q->n_graph_key; i++) {
    message one = {0};
    weft_err err = weft__message_add_varint(&one, 1, (uint64_t)q->graph_key[i]);
    const int64_t id = weft__collective_make_next_step(w->collectives, q->graph_key[i]);
    if (!err) err = weft__message_add_varint(&one, 2, (uint64_t)id);
    if (!err) err = weft__message_add_message(answer, 1, &one);
    weft__message_finish(&one);
    if (err) return err;
  }
  return WEFT_OK;
}

void weft__worker_keep_step(worker *w, int64_t id) {
  worker_step *s;
  if (weft__worker_step_get(w, id, true, &s)) return;
  weft__worker_step_set_auto_cleanup(s);
  weft__worker_step_release(s);
}

void weft__worker_keep_failed_step(worker *w, int64_t id, weft_err err) {
  worker_step *s;
  status why = {0};
  weft__status_update(&why, err);
  if (weft__worker_step_get(w, id, true, &s) == WEFT_OK) {
    weft__rendezvous_abort(s->rendezvous, weft__status_raise(&why));
    weft__worker_step_release(s);
  }
  pthread_mutex_lock(&w->lock);
  const int64_t before = w->failed_step;
  w->failed_step = id;
  pthread_mutex_unlock(&w->lock);
  if (before && before != id) weft__worker_cleanup_step(w, before);
  weft__status_raise(&why); /* the caller returns this error */
  weft__status_finish(&why);
}

void weft__worker_forget_failed_step(worker *w, int64_t id) {
  pthread_mutex_lock(&w->lock);
  const bool failed = w->failed_step == id;
  if (failed) w->failed_step = 0;
  pthread_mutex_unlock(&w->lock);
  if (failed) weft__worker_cleanup_step(w, id);
}

/* ---- buffers ---- */

static const char *key_field(const char *key, int n) {
  for (; key && n > 0; n--) {
    key = strchr(key, ';');
    if (key) key++;
  }
  return key;
}

bool weft__worker_is_buffer_key(const char *key) {
  const char *name = key_field(key, 3);
  return name && strncmp(name, buffer_mark, strlen(buffer_mark)) == 0;
}

static weft_err recv_buffer_key(worker *w, const Tensorflow__RecvBufRequest *q, char **key) {
  const device *d = weft__worker_find_device(w, q->src_device);
  if (!d) return weft__fail(WEFT_INVALID_ARGUMENT, "RecvBuf: %s is no device of %s", q->src_device, w->task->name);
  if (q->src_incarnation && q->src_incarnation != d->incarnation)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "RecvBuf expects a different device incarnation: %" PRIu64 " vs. %" PRIu64
                      ". Your worker job (\"%s\") was probably restarted. Check your worker job for the reason why it "
                      "was restarted.",
                      q->src_incarnation, d->incarnation, w->task->name);
  if (strchr(q->buf_rendezvous_key, ';') || strchr(q->dst_device, ';'))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid buffer key: %.300s", q->buf_rendezvous_key);
  WEFT_TRY(weft__request_dedup_check(w->dedup, "RecvBuf", q->request_id));
  *key = weft__collective_buffer_key(d->name, d->incarnation, q->dst_device, q->num_bytes, q->buf_rendezvous_key);
  return *key ? WEFT_OK : WEFT_OOM;
}

void weft__worker_recv_buffer(worker *w, call *c, ProtobufCMessage *request) {
  const Tensorflow__RecvBufRequest *q = (const Tensorflow__RecvBufRequest *)request;
  char *key = NULL;
  const weft_err err = recv_buffer_key(w, q, &key);
  if (err) {
    weft__call_respond(c, err, NULL);
    weft__worker_leave(w);
  } else {
    weft__worker_answer_value(w, c, q->step_id, key, weft__received_buffer_write);
  }
  protobuf_c_message_free_unpacked(request, NULL);
}

typedef struct buffer_fetch {
  rendezvous *rendezvous;
  peer *from;
  recv_fn *fn;
  void *arg;
  int64_t bytes;
} buffer_fetch;

/* Another member's end of data is not this task's, whose loop would end without an error.  A member that has ended and
 * does not come back is no reason to try again.  TensorFlow says INTERNAL in both cases. */
static weft_err buffer_error(peer *from, weft_err err) {
  char *why = weft__strdup(weft__error_message());
  const int64_t left_ns = weft__peer_get_departure(from).at_ns;
  if (err == WEFT_OUT_OF_RANGE)
    err = weft__fail(WEFT_INTERNAL, "%s takes no part in this step of collective ops, because its own step failed: %s",
                     weft__peer_task(from), why ? why : "its data ended");
  else if ((err == WEFT_UNAVAILABLE || err == WEFT_ABORTED) && left_ns &&
           weft__clock_now_ns() - left_ns > WEFT_RETURN_SECS * NS_PER_S)
    err = weft__fail(WEFT_INTERNAL, "%s has ended, so the collective ops of this task cannot complete: %s",
                     weft__peer_task(from), why ? why : "it does not answer");
  weft__free(why);
  return err;
}

static void buffer_on_reply(void *arg, weft_err err, message *reply) {
  buffer_fetch f = *(buffer_fetch *)arg;
  static const weft_tensor none;
  weft_tensor *t = NULL;
  bool dead = false;
  weft__free(arg);
  err = err ? buffer_error(f.from, err) : weft__received_buffer_read(&t, &dead, reply, f.bytes);
  weft__rendezvous_release(f.rendezvous); /* before fn, which has a reference too and may end the step */
  f.fn(f.arg, err, t ? t : &none, dead);
  weft_tensor_destroy(t);
}

/* Makes the request of a key: SOURCE;INCARNATION;DESTINATION;buf:BYTES:KEY;0:0. */
static weft_err pack_fetch(message *m, worker_step *s, const char *key, int64_t *bytes) {
  const char *at[5];
  for (int i = 0; i < 5; i++) at[i] = key_field(key, i);
  const char *size = at[3] + strlen(buffer_mark), *colon = strchr(size, ':');
  if (!at[4] || !colon || colon > at[4]) return weft__fail(WEFT_INTERNAL, "Invalid buffer key: %.300s", key);
  *bytes = strtoll(size, NULL, 10);
  WEFT_TRY(weft__message_add_varint(m, 1, (uint64_t)s->id));
  WEFT_TRY(weft__message_add_string(m, 2, colon + 1, (size_t)(at[4] - colon) - 2));
  WEFT_TRY(weft__message_add_varint(m, 3, (uint64_t)*bytes));
  WEFT_TRY(weft__message_add_string(m, 8, at[0], (size_t)(at[1] - at[0]) - 1));
  WEFT_TRY(weft__message_add_string(m, 9, at[2], (size_t)(at[3] - at[2]) - 1));
  WEFT_TRY(weft__message_add_varint(m, 10, weft__worker_request_id(s->worker)));
  return weft__message_add_varint(m, 11, strtoull(at[1], NULL, 16));
}

void weft__worker_fetch_buffer(worker_step *s, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg) {
  message m = {0};
  peer *from = NULL;
  buffer_fetch *f = weft__alloc(sizeof *f);
  int64_t bytes = 0;
  weft_err err = f ? weft__peers_find(s->worker->peers, key, &from) : WEFT_OOM;
  if (!err) err = pack_fetch(&m, s, key, &bytes);
  if (err) {
    weft__free(f);
    static const weft_tensor none;
    fn(fn_arg, err, &none, false);
  } else {
    weft__rendezvous_retain(r);
    *f = (buffer_fetch){r, from, fn, fn_arg, bytes};
    weft__peer_call(from, SERVICE "RecvBuf", &m, &(call_opts){.cancel = weft__rendezvous_token(r)}, buffer_on_reply, f);
  }
  weft__message_finish(&m);
}
