/* collective.c - two maps, of groups and of instances by key, and the requests that wait for them.
 *
 * `lock`, a leaf, guards both maps and all their entries.  A request that waits is in the queue of its entry
 * (state/wait_queue.h); the thread that removes it from there completes it after it has released the lock. */
#include "state/collective.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "device/device.h"
#include "state/wait_queue.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COLLECTIVES_TYPE "collectives"
#define COLLECTIVES_RESOURCE "weft", COLLECTIVES_TYPE, "table"
#define SENTENCE                                                                                                       \
  "Collective ops is aborted by: %s\nThe error could be from a previous operation. Restart your program to reset."
enum { GROUP_MAX = 1 << 16, ENTRIES_MAX = 1 << 20 };

typedef struct forming_group { /* a group that is not complete */
  int size;
  int n;
  int64_t capacity; /* of member */
  collective_member *member;
  collective_group *group; /* set when it is complete; a reference */
  wait_queue waiting;
} forming_group;

typedef struct instance {
  int type, size, n_joined, source;
  weft_dtype dtype;
  shape shape;
  bool complete;
  bool *joined; /* by rank; in a task that is not the leader: the leader has answered the request of this member */
  wait_queue waiting;
} instance;

struct collectives {
  resource base;
  pthread_mutex_t lock;
  map groups;    /* "KEY" -> forming_group */
  map instances; /* "GROUP:INSTANCE" -> instance */
  map steps;     /* "GRAPH_KEY" -> next id */
  bool has_remote;
  collective_remote remote;
  timers *timers;
};

typedef struct group_request {
  waiter base;
  collectives *table;
  forming_group *at;
  collective_group_fn *fn;
  void *arg;
  status result;
} group_request;

typedef struct instance_request {
  waiter base;
  collectives *table;
  instance *at;
  collective_instance_fn *fn;
  void *arg;
  status result;
} instance_request;

static weft_err collective_fail(weft_err code, const char *what) {
  char *copy = weft__strdup(what);
  const weft_err err = weft__fail(code, SENTENCE, copy ? copy : "an error without a message");
  weft__free(copy);
  return err;
}

/* ---- groups ---- */

static void member_finish(collective_member *m) {
  weft__free(m->device);
  weft__free(m->attributes);
}

static void members_destroy(collective_member *m, int n) {
  for (int i = 0; m && i < n; i++) member_finish(&m[i]);
  weft__free(m);
}

static weft_err member_copy(collective_member *to, const collective_member *from) {
  *to = (collective_member){.incarnation = from->incarnation, .attributes_size = from->attributes_size};
  to->device = weft__strdup(from->device);
  to->attributes = from->attributes ? weft__alloc(from->attributes_size + 1) : NULL;
  if (from->attributes && to->attributes) memcpy(to->attributes, from->attributes, from->attributes_size);
  if (to->device && (!from->attributes || to->attributes)) return WEFT_OK;
  member_finish(to);
  return WEFT_OOM;
}

static int compare_numbers(int a, int b) { return (a > b) - (a < b); }

/* By job, replica, task, type and number of the device. */
static int compare_members(const void *a, const void *b) {
  device_spec x = {0}, y = {0};
  const char *left = ((const collective_member *)a)->device, *right = ((const collective_member *)b)->device;
  if (weft__device_parse(&x, left) || weft__device_parse(&y, right)) return strcmp(left, right);
  int order = strcmp(x.job, y.job);
  if (!order) order = compare_numbers(x.replica, y.replica);
  if (!order) order = compare_numbers(x.task, y.task);
  if (!order) order = strcmp(x.type, y.type);
  return order ? order : compare_numbers(x.id, y.id);
}

static bool same_task(const char *a, const char *b) {
  const char *end = strstr(a, "/device:");
  const size_t n = end ? (size_t)(end - a) : strlen(a);
  return strncmp(a, b, n) == 0 && (b[n] == '/' || b[n] == 0);
}

static void group_destroy(object *o) {
  collective_group *g = (collective_group *)o;
  members_destroy(g->member, g->size);
  weft__free(g->device_type);
  weft__free(g);
}

void weft__collective_group_release(collective_group *g) {
  if (g) weft__object_release(&g->base);
}

weft_err weft__collective_group_create(collective_group **out, int32_t key, const char *device_type, int n,
                                       collective_member *member) {
  collective_group *g = weft__alloc_zero(1, sizeof *g);
  char *type = weft__strdup(device_type);
  if (!g || !type) {
    weft__free(g);
    weft__free(type);
    members_destroy(member, n);
    return WEFT_OOM;
  }
  atomic_init(&g->base.refs, 1);
  g->base.destroy = group_destroy;
  g->key = key;
  g->device_type = type;
  g->size = n;
  g->member = member;
  qsort(member, (size_t)n, sizeof *member, compare_members);
  for (int i = 0; i < n; i++) {
    if (i == 0 || !same_task(member[i - 1].device, member[i].device)) g->n_task++;
    member[i].task = g->n_task - 1;
  }
  *out = g;
  return WEFT_OK;
}

int weft__collective_rank(const collective_group *g, const char *name) {
  for (int i = 0; i < g->size; i++)
    if (strcmp(g->member[i].device, name) == 0) return i;
  return -1;
}

/* ---- the table ---- */

static void forming_group_destroy(forming_group *f) {
  members_destroy(f->member, f->n);
  weft__collective_group_release(f->group);
  weft__free(f);
}

static void collectives_destroy(object *o) {
  collectives *c = (collectives *)o;
  weft__timers_destroy(c->timers);
  for (int i = 0; i < c->groups.used; i++)
    if (c->groups.entries[i].key) forming_group_destroy(c->groups.entries[i].value);
  for (int i = 0; i < c->instances.used; i++) {
    instance *n = c->instances.entries[i].value;
    if (n) weft__free(n->joined);
    weft__free(n);
  }
  for (int i = 0; i < c->steps.used; i++) weft__free(c->steps.entries[i].value);
  weft__map_finish(&c->groups);
  weft__map_finish(&c->instances);
  weft__map_finish(&c->steps);
  pthread_mutex_destroy(&c->lock);
  weft__free(c);
}

static weft_err collectives_make(resource **out, void *arg) {
  (void)arg;
  collectives *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  atomic_init(&c->base.base.refs, 1);
  c->base.base.destroy = collectives_destroy;
  c->base.type = COLLECTIVES_TYPE;
  pthread_mutex_init(&c->lock, NULL);
  *out = &c->base;
  return WEFT_OK;
}

weft_err weft__collectives_get(resources *r, collectives **out) {
  return weft__resource_get(r, COLLECTIVES_RESOURCE, collectives_make, NULL, (resource **)out);
}

void weft__collectives_release(collectives *c) {
  if (c) weft__object_release(&c->base.base);
}

void weft__collectives_set_remote(collectives *c, const collective_remote *remote) {
  pthread_mutex_lock(&c->lock);
  c->has_remote = remote != NULL;
  if (remote) c->remote = *remote;
  pthread_mutex_unlock(&c->lock);
}

void weft__collectives_set_describe(collectives *c, const collective_remote *remote) {
  pthread_mutex_lock(&c->lock);
  c->remote.describe = remote->describe;
  c->remote.arg = remote->arg;
  pthread_mutex_unlock(&c->lock);
}

bool weft__collectives_is_leader(collectives *c) {
  pthread_mutex_lock(&c->lock);
  const bool is = !c->has_remote;
  pthread_mutex_unlock(&c->lock);
  return is;
}

weft_err weft__collectives_timers(collectives *c, timers **out) {
  pthread_mutex_lock(&c->lock);
  const weft_err err = c->timers ? WEFT_OK : weft__timers_create(&c->timers);
  *out = c->timers;
  pthread_mutex_unlock(&c->lock);
  return err;
}

/* Takes a canceled request out of its queue and sets its result.  Returns false if another thread completes it. */
static bool request_take_canceled(collectives *c, wait_queue *q, waiter *w, status *result) {
  pthread_mutex_lock(&c->lock);
  const bool mine = w->listed;
  w->cancelled = true;
  if (mine) weft__wait_queue_remove(q, w);
  pthread_mutex_unlock(&c->lock);
  if (mine) weft__status_update(result, weft__cancel_raise(w->cancel));
  return mine;
}

/* ---- joining a group ---- */

static void group_complete(group_request *r) {
  weft__waiter_stop(&r->base);
  const weft_err err = weft__status_raise(&r->result);
  r->fn(r->arg, err, err ? NULL : r->at->group);
  weft__status_finish(&r->result);
  collectives *c = r->table;
  weft__free(r);
  weft__collectives_release(c);
}

static void group_complete_all(wait_queue *done) {
  for (waiter *w = done->first, *next; w; w = next) {
    next = w->next;
    group_complete((group_request *)w);
  }
}

static void group_canceled(void *arg) {
  group_request *r = arg;
  if (request_take_canceled(r->table, &r->at->waiting, &r->base, &r->result)) group_complete(r);
}

/* Finds the entry of a group or adds it.  The lock is held. */
static weft_err forming_group_get(collectives *c, const collective_join *j, forming_group **out) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  char key[32];
  snprintf(key, sizeof key, "%d", j->group_key);
  if ((*out = weft__map_get(&c->groups, key))) return WEFT_OK;
  if (c->groups.count >= ENTRIES_MAX)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "There are %d groups of collective ops already", c->groups.count);
  forming_group *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->size = j->group_size;
  weft__wait_queue_init(&f->waiting);
  const weft_err err = weft__map_put(&c->groups, key, f);
  if (err) weft__free(f);
  *out = err ? NULL : f;
  return err;
}

static weft_err collective_check_size(const forming_group *f, const collective_join *j) {
  if (f->size == j->group_size) return WEFT_OK;
  char *what = weft__sprintf("Device %s is joining a group with size%d, but that group has size %d (group_key=%d)",
                             j->member.device, j->group_size, f->size, j->group_key);
  const weft_err err = collective_fail(WEFT_INTERNAL, what ? what : "the sizes of a group differ");
  weft__free(what);
  return err;
}

/* Adds a member; completes the group with the last one.  The lock is held. */
static weft_err forming_group_add(forming_group *f, const collective_join *j, wait_queue *done) {
  for (int i = 0; i < f->n; i++)
    if (strcmp(f->member[i].device, j->member.device) == 0) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(f->member, f->capacity, f->n + 1));
  WEFT_TRY(member_copy(&f->member[f->n], &j->member));
  if (++f->n < f->size) return WEFT_OK;
  collective_member *all = f->member;
  f->member = NULL;
  f->n = 0;
  f->capacity = 0;
  WEFT_TRY(weft__collective_group_create(&f->group, j->group_key, j->device_type, f->size, all));
  for (waiter *w = f->waiting.first, *next; w; w = next) {
    next = w->next;
    weft__wait_queue_remove(&f->waiting, w);
    weft__wait_queue_push(done, w);
  }
  return WEFT_OK;
}

/* Called when the leader has answered a request for a group. */
static void group_answered(void *arg, weft_err err, collective_group *g) {
  group_request *r = arg;
  collectives *c = r->table;
  if (!err) {
    pthread_mutex_lock(&c->lock);
    if (!r->at->group) {
      weft__object_retain(&g->base);
      r->at->group = g;
    }
    pthread_mutex_unlock(&c->lock);
  }
  weft__status_update(&r->result, err);
  group_complete(r);
}

static group_request *group_request_create(collectives *c, forming_group *f, collective_group_fn *fn, void *arg) {
  group_request *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return NULL;
  *r = (group_request){.table = c, .at = f, .fn = fn, .arg = arg};
  weft__object_retain(&c->base.base);
  return r;
}

static void group_join_here(group_request *r, const collective_join *j, cancel *token) {
  collectives *c = r->table;
  wait_queue done;
  weft__wait_queue_init(&done);
  weft_err err = weft__waiter_start(&r->base, token, group_canceled);
  if (err) r->base.cancel = NULL;
  pthread_mutex_lock(&c->lock);
  if (!err && !r->at->group) err = forming_group_add(r->at, j, &done);
  const bool listed = !err && !r->at->group && weft__wait_queue_enter(&r->at->waiting, &r->base);
  const bool complete = r->at->group != NULL;
  pthread_mutex_unlock(&c->lock);
  if (!listed) {
    if (!err && !complete) err = weft__cancel_raise(token);
    weft__status_update(&r->result, err);
    group_complete(r);
  }
  group_complete_all(&done);
}

static void group_join(collectives *c, const collective_join *j, bool for_leader, cancel *token,
                       collective_group_fn *fn, void *arg) {
  forming_group *f = NULL;
  pthread_mutex_lock(&c->lock);
  weft_err err = forming_group_get(c, j, &f);
  if (!err) err = collective_check_size(f, j);
  collective_group *known = err ? NULL : f->group;
  const bool ask = !err && !known && c->has_remote && !for_leader;
  const collective_remote remote = c->remote;
  pthread_mutex_unlock(&c->lock);
  group_request *r = err || known ? NULL : group_request_create(c, f, fn, arg);
  if (err || known || !r) {
    fn(arg, err ? err : known ? WEFT_OK : WEFT_OOM, known);
    return;
  }
  if (ask)
    remote.group(remote.arg, j, token, group_answered, r);
  else
    group_join_here(r, j, token);
}

void weft__collective_join_group(collectives *c, const collective_join *j, bool for_leader, cancel *token,
                                 collective_group_fn *fn, void *arg) {
  collective_join full = *j;
  pthread_mutex_lock(&c->lock);
  const collective_remote remote = c->remote;
  pthread_mutex_unlock(&c->lock);
  if (for_leader || !remote.describe) {
    group_join(c, j, for_leader, token, fn, arg);
    return;
  }
  const weft_err err = remote.describe(remote.arg, &full.member);
  if (err)
    fn(arg, err, NULL);
  else
    group_join(c, &full, false, token, fn, arg);
  weft__free(full.member.attributes);
}

/* ---- joining an instance ---- */

static void instance_complete(instance_request *r) {
  weft__waiter_stop(&r->base);
  const weft_err err = weft__status_raise(&r->result);
  r->fn(r->arg, err, r->at->source);
  weft__status_finish(&r->result);
  collectives *c = r->table;
  weft__free(r);
  weft__collectives_release(c);
}

static void instance_canceled(void *arg) {
  instance_request *r = arg;
  if (request_take_canceled(r->table, &r->at->waiting, &r->base, &r->result)) instance_complete(r);
}

/* Finds the entry of an instance or adds it.  The lock is held. */
static weft_err instance_get(collectives *c, const collective_join *j, instance **out) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  char key[48];
  snprintf(key, sizeof key, "%d:%d", j->group_key, j->instance_key);
  if ((*out = weft__map_get(&c->instances, key))) return WEFT_OK;
  if (c->instances.count >= ENTRIES_MAX)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "There are %d collective ops already", c->instances.count);
  instance *n = weft__alloc_zero(1, sizeof *n);
  bool *joined = weft__alloc_zero((size_t)j->group_size, sizeof *joined);
  weft_err err = n && joined ? WEFT_OK : WEFT_OOM;
  if (!err) {
    *n = (instance){j->type, j->group_size, 0, -1, j->dtype, j->shape, false, joined, {0}};
    weft__wait_queue_init(&n->waiting);
    err = weft__map_put(&c->instances, key, n);
  }
  if (err) {
    weft__free(joined);
    weft__free(n);
    return err;
  }
  *out = n;
  return WEFT_OK;
}

static weft_err instance_check(const instance *n, const collective_join *j) {
  char *what = NULL;
  weft_err code = WEFT_OK;
  if (n->type != j->type || n->dtype != j->dtype) {
    code = WEFT_INTERNAL;
    what = weft__sprintf("Collective instance %d expected type %d and data_type %d but got type %d and data_type %d",
                         j->instance_key, n->type, (int)n->dtype, j->type, (int)j->dtype);
  } else if (!n->complete && !weft__shape_equal(&n->shape, &j->shape)) {
    char other[128];
    snprintf(other, sizeof other, "%s", weft__shape_text(&n->shape));
    code = WEFT_INVALID_ARGUMENT;
    what = weft__sprintf("Shape mismatch in the collective instance %d. Op at device %s expected shape %s but another "
                         "member in the group expected shape %s. This is likely due to different input shapes at "
                         "different members of the collective op.",
                         j->instance_key, j->member.device, weft__shape_text(&j->shape), other);
  }
  if (!code) return WEFT_OK;
  const weft_err err = collective_fail(code, what ? what : "the members of a collective op differ");
  weft__free(what);
  return err;
}

static weft_err instance_note_source(instance *n, const collective_join *j, int rank) {
  if (!j->is_source || n->source == rank) return WEFT_OK;
  if (n->source < 0) {
    n->source = rank;
    return WEFT_OK;
  }
  char *what = weft__sprintf("Instance %d already has source %d, received second claim from %d", j->instance_key,
                             n->source, rank);
  const weft_err err = collective_fail(WEFT_INTERNAL, what ? what : "a broadcast has two sources");
  weft__free(what);
  return err;
}

static weft_err no_source(const instance *n, const collective_join *j) {
  char *what =
      weft__sprintf("Instance %d found no source for broadcast.  This could mean that there were group_size=%d "
                    "BcastRecvs but no BcastSend.",
                    j->instance_key, n->size);
  const weft_err err = collective_fail(WEFT_INTERNAL, what ? what : "a broadcast has no source");
  weft__free(what);
  return err;
}

/* Counts the member.  The last one completes the instance and moves the waiting requests to `done`, with an error if
 * the instance is a broadcast without a source.  The lock is held. */
static weft_err instance_add(instance *n, const collective_join *j, int rank, wait_queue *done) {
  WEFT_TRY(instance_check(n, j));
  WEFT_TRY(instance_note_source(n, j, rank));
  if (!n->joined[rank]) {
    n->joined[rank] = true;
    n->n_joined++;
  }
  if (n->complete || n->n_joined < n->size) return WEFT_OK;
  weft_err err = n->type == COLLECTIVE_BROADCAST && n->source < 0 ? no_source(n, j) : WEFT_OK;
  n->complete = !err;
  if (err) {
    memset(n->joined, 0, (size_t)n->size * sizeof *n->joined);
    n->n_joined = 0;
  }
  for (waiter *w = n->waiting.first, *next; w; w = next) {
    next = w->next;
    weft__wait_queue_remove(&n->waiting, w);
    weft__wait_queue_push(done, w);
    weft__status_update(&((instance_request *)w)->result, err);
  }
  return err;
}

static void instance_join_here(instance_request *r, const collective_join *j, int rank, cancel *token) {
  collectives *c = r->table;
  wait_queue done;
  weft__wait_queue_init(&done);
  weft_err err = weft__waiter_start(&r->base, token, instance_canceled);
  if (err) r->base.cancel = NULL;
  pthread_mutex_lock(&c->lock);
  if (!err) err = instance_add(r->at, j, rank, &done);
  const bool wait = !err && j->type == COLLECTIVE_BROADCAST && !r->at->complete;
  const bool listed = wait && weft__wait_queue_enter(&r->at->waiting, &r->base);
  pthread_mutex_unlock(&c->lock);
  if (!listed) {
    if (wait) err = weft__cancel_raise(token);
    weft__status_update(&r->result, err);
    instance_complete(r);
  }
  for (waiter *w = done.first, *next; w; w = next) {
    next = w->next;
    instance_complete((instance_request *)w);
  }
}

typedef struct leader_request { /* a request to the leader for an instance */
  collectives *table;
  instance *at;
  int rank;
  collective_instance_fn *fn;
  void *arg;
} leader_request;

static void instance_answered(void *arg, weft_err err, int source_rank) {
  leader_request a = *(leader_request *)arg;
  weft__free(arg);
  if (!err) {
    pthread_mutex_lock(&a.table->lock);
    a.at->joined[a.rank] = true;
    a.at->source = source_rank;
    pthread_mutex_unlock(&a.table->lock);
  }
  a.fn(a.arg, err, source_rank);
  weft__collectives_release(a.table);
}

static void instance_request_from_leader(collectives *c, const collective_remote *remote, instance *at,
                                         const collective_join *j, int rank, cancel *token, collective_instance_fn *fn,
                                         void *arg) {
  leader_request *a = weft__alloc(sizeof *a);
  if (!a) {
    fn(arg, WEFT_OOM, -1);
    return;
  }
  *a = (leader_request){c, at, rank, fn, arg};
  weft__object_retain(&c->base.base);
  remote->instance(remote->arg, j, token, instance_answered, a);
}

void weft__collective_join_instance(collectives *c, const collective_group *g, const collective_join *j,
                                    bool for_leader, cancel *token, collective_instance_fn *fn, void *arg) {
  instance *n = NULL;
  const int rank = weft__collective_rank(g, j->member.device);
  weft_err err = rank < 0 || g->size != j->group_size
                     ? weft__fail(WEFT_INTERNAL, "Device %s is no member of group %d, which has %d members",
                                  j->member.device, g->key, g->size)
                     : WEFT_OK;
  pthread_mutex_lock(&c->lock);
  if (!err) err = instance_get(c, j, &n);
  const bool ask = !err && c->has_remote && !for_leader, known = ask && n->joined[rank];
  const int source = err ? -1 : n->source;
  const collective_remote remote = c->remote;
  pthread_mutex_unlock(&c->lock);
  if (err || known) {
    fn(arg, err, source);
    return;
  }
  if (ask) {
    instance_request_from_leader(c, &remote, n, j, rank, token, fn, arg);
    return;
  }
  instance_request *r = weft__alloc_zero(1, sizeof *r);
  if (!r) {
    fn(arg, WEFT_OOM, -1);
    return;
  }
  *r = (instance_request){.table = c, .at = n, .fn = fn, .arg = arg};
  weft__object_retain(&c->base.base);
  instance_join_here(r, j, rank, token);
}

/* ---- step ids ---- */

static int64_t *step_find(collectives *c, int64_t graph_key, char key[32]) {
  snprintf(key, 32, "%" PRId64, graph_key);
  return weft__map_get(&c->steps, key);
}

/* Sets the next id; without memory the leader is asked again.  The lock is held. */
static void step_set(collectives *c, int64_t graph_key, int64_t id) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  char key[32];
  int64_t *at = step_find(c, graph_key, key);
  if (!at && (at = weft__alloc(sizeof *at)) && weft__map_put(&c->steps, key, at)) {
    weft__free(at);
    at = NULL;
  }
  if (at) *at = id;
}

int64_t weft__collective_next_step(collectives *c, int64_t graph_key, bool *known) {
  char key[32];
  pthread_mutex_lock(&c->lock);
  const int64_t *at = step_find(c, graph_key, key);
  *known = at != NULL;
  const int64_t id = at ? *at : 0;
  pthread_mutex_unlock(&c->lock);
  return id;
}

void weft__collective_set_next_step(collectives *c, int64_t graph_key, int64_t id) {
  pthread_mutex_lock(&c->lock);
  step_set(c, graph_key, id);
  pthread_mutex_unlock(&c->lock);
}

int64_t weft__collective_make_next_step(collectives *c, int64_t graph_key) {
  bool known;
  const int64_t fresh = (int64_t)(weft__device_incarnation() & ((UINT64_C(1) << 56) - 1)),
                id = weft__collective_next_step(c, graph_key, &known);
  if (known) return id;
  pthread_mutex_lock(&c->lock);
  char key[32];
  const int64_t *at = step_find(c, graph_key, key);
  const int64_t found = at ? *at : fresh;
  if (!at) step_set(c, graph_key, fresh);
  pthread_mutex_unlock(&c->lock);
  return found;
}

void weft__collective_end_step(collectives *c, int64_t graph_key, int64_t id, bool failed) {
  char key[32];
  pthread_mutex_lock(&c->lock);
  int64_t *at = step_find(c, graph_key, key);
  if (at && failed && c->has_remote)
    weft__free(weft__map_remove(&c->steps, key));
  else if (at && *at == id)
    ++*at;
  pthread_mutex_unlock(&c->lock);
}
