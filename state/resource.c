/* resource.c - one table of resources, with keys of container, name and type.
 *
 * One lock guards the table and the private names.  A resource is created under it (which only allocates), but is never
 * dropped or destroyed under it: what leaves the table is released afterwards.  `generation` lets a plan cache what a
 * stateful node found, and notice without a lock or a lookup that a resource has left the table since.
 *
 * Include cycle with state/variable, state/deferred: a variable is a resource, and the handles of older ops are
 * references to a variable that holds the resource's name.  A variable applies its deferred steps before it is read.
 */
#include "state/resource.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "state/variable.h"
#include <ctype.h>
#include <pthread.h>

#define SEPARATOR "\x1f"
#define DEFAULT_CONTAINER "localhost"

struct resources {
  pthread_mutex_t lock;
  map table;         /* "container^name^type" -> resource, one reference each */
  map private_names; /* "session^node" -> "_7_node" */
  int64_t made_names;
  atomic_llong generation; /* grows when a resource leaves the table */
};

weft_err weft__resources_create(resources **out) {
  resources *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  pthread_mutex_init(&r->lock, NULL);
  *out = r;
  return WEFT_OK;
}

void weft__resources_destroy(resources *r) {
  if (!r) return;
  weft__resources_clear(r, NULL);
  for (int i = 0; i < r->private_names.used; i++) weft__free(r->private_names.entries[i].value);
  weft__map_finish(&r->private_names);
  weft__map_finish(&r->table);
  pthread_mutex_destroy(&r->lock);
  weft__free(r);
}

static const char *container_or_default(const char *container) {
  return container && *container ? container : DEFAULT_CONTAINER;
}

static char *resource_key(const char *container, const char *type, const char *name) {
  return weft__sprintf("%s" SEPARATOR "%s" SEPARATOR "%s", container_or_default(container), name, type);
}

weft_err weft__resource_get(resources *r, const char *container, const char *type, const char *name,
                            resource_make *make, void *arg, resource **out) {
  char *key = resource_key(container, type, name);
  if (!key) return WEFT_OOM;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&r->lock);
  resource *found = weft__map_get(&r->table, key);
  if (!found) {
    err = make(&found, arg);
    if (err == WEFT_OK && (err = weft__map_put(&r->table, key, found)) != WEFT_OK) weft__object_release(&found->base);
  }
  if (err == WEFT_OK) {
    WEFT_ASSERT(strcmp(found->type, type) == 0); /* the type is part of the key */
    weft__object_retain(&found->base);
    *out = found;
  }
  pthread_mutex_unlock(&r->lock);
  weft__free(key);
  return err;
}

static weft_err resource_not_found(const char *container, const char *type, const char *name) {
  return weft__fail(WEFT_NOT_FOUND, "Resource %s/%s/%s does not exist.", container_or_default(container), name, type);
}

weft_err weft__resource_find(resources *r, const char *container, const char *type, const char *name, resource **out) {
  char *key = resource_key(container, type, name);
  if (!key) return WEFT_OOM;
  pthread_mutex_lock(&r->lock);
  resource *found = weft__map_get(&r->table, key);
  if (found) weft__object_retain(&found->base);
  pthread_mutex_unlock(&r->lock);
  weft__free(key);
  if (!found) return resource_not_found(container, type, name);
  *out = found;
  return WEFT_OK;
}

typedef struct listed {
  char *name;
  resource *found;
} listed;

/* Copies the names of all resources of a type and retains them.  The lock is held. */
static int resources_list_type(const resources *r, const char *type, listed *all) {
  WEFT_ASSERT(weft__lock_is_held(&r->lock));
  int n = 0;
  for (int i = 0; i < r->table.used; i++) {
    const map_entry *e = &r->table.entries[i];
    if (!e->key || strcmp(((const resource *)e->value)->type, type) != 0) continue;
    const char *name = strchr(e->key, SEPARATOR[0]) + 1;
    all[n].name = weft__sprintf("%.*s", weft__int_sat(strcspn(name, SEPARATOR)), name);
    if (!all[n].name) break;
    all[n].found = e->value;
    weft__object_retain(&all[n++].found->base);
  }
  return n;
}

weft_err weft__resources_each(resources *r, const char *type, void (*fn)(void *arg, const char *name, resource *found),
                              void *arg) {
  pthread_mutex_lock(&r->lock);
  listed *all = weft__alloc_zero((size_t)r->table.count + 1, sizeof *all);
  int n = all ? resources_list_type(r, type, all) : 0;
  pthread_mutex_unlock(&r->lock);
  for (int i = 0; i < n; i++) {
    fn(arg, all[i].name, all[i].found);
    weft__object_release(&all[i].found->base);
    weft__free(all[i].name);
  }
  weft__free(all);
  return all ? WEFT_OK : WEFT_OOM;
}

/* Drops a resource that has left the table.  Call it without the lock. */
static void resource_drop(resource *gone) {
  if (gone->dropped) gone->dropped(gone);
  weft__object_release(&gone->base);
}

weft_err weft__resource_delete(resources *r, const char *container, const char *type, const char *name) {
  char *key = resource_key(container, type, name);
  if (!key) return WEFT_OOM;
  pthread_mutex_lock(&r->lock);
  resource *gone = weft__map_remove(&r->table, key);
  if (gone) atomic_fetch_add(&r->generation, 1);
  pthread_mutex_unlock(&r->lock);
  weft__free(key);
  if (!gone) return resource_not_found(container, type, name);
  resource_drop(gone);
  return WEFT_OK;
}

static bool key_in_container(const char *key, const char *container) {
  size_t n = strlen(container);
  return !strncmp(key, container, n) && key[n] == SEPARATOR[0];
}

/* Removes one resource of the container from the table and returns it; NULL if none is left. */
static resource *resources_take_one(resources *r, const char *container) {
  resource *gone = NULL;
  pthread_mutex_lock(&r->lock);
  for (int i = 0; i < r->table.used && !gone; i++) {
    const char *key = r->table.entries[i].key;
    if (key && (!container || key_in_container(key, container))) gone = weft__map_remove(&r->table, key);
  }
  if (gone) atomic_fetch_add(&r->generation, 1);
  pthread_mutex_unlock(&r->lock);
  return gone;
}

void weft__resources_clear(resources *r, const char *container) {
  if (container) container = container_or_default(container);
  for (resource *gone; (gone = resources_take_one(r, container));) resource_drop(gone);
}

uint64_t weft__resources_generation(const resources *r) {
  return r ? (uint64_t)atomic_load_explicit(&r->generation, memory_order_acquire) : 0;
}

/* ---- handles ---- */

static void handle_destroy(object *o) {
  handle *h = (handle *)o;
  weft__free(h->container);
  weft__free(h->name);
  weft__object_release((object *)h->target);
  weft__free(h);
}

weft_err weft__handle_create(weft_tensor **out, const char *container, const char *name, resource *target) {
  handle *h = weft__alloc_zero(1, sizeof *h);
  if (!h) return WEFT_OOM;
  atomic_init(&h->base.refs, 1);
  h->base.destroy = handle_destroy;
  h->container = weft__strdup(container_or_default(container));
  h->name = weft__strdup(name);
  weft_err err = h->container && h->name ? weft__tensor_create(out, WEFT_RESOURCE, &SHAPE_SCALAR) : WEFT_OOM;
  if (err != WEFT_OK) {
    weft__object_release(&h->base);
    return err;
  }
  weft__object_retain(&target->base);
  h->target = target;
  TENSOR_DATA(*out, object *)[0] = &h->base;
  return WEFT_OK;
}

const handle *weft__handle_of(const weft_tensor *t) {
  if (!t || !t->buf || t->dtype != WEFT_RESOURCE || weft__tensor_count(t) < 1) return NULL;
  return (const handle *)TENSOR_DATA(t, object *)[0];
}

weft_err weft__handle_get(const weft_tensor *t, const char *type, resource **out) {
  const handle *h = weft__handle_of(t);
  if (!h) return weft__fail(WEFT_INVALID_ARGUMENT, "Expected a handle of a %s, got an empty or plain tensor", type);
  if (strcmp(h->target->type, type) != 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Trying to access resource %s/%s as a %s, but it is a %s", h->container,
                      h->name, type, h->target->type);
  *out = h->target;
  return WEFT_OK;
}

/* ---- names ---- */

/* TensorFlow's rule: a letter, digit or dot first, then also _ - and /. */
static weft_err resource_check_container(const char *container) {
  for (const char *c = container; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '.' && (c == container || !strchr("_-/", *c)))
      return weft__fail(WEFT_INVALID_ARGUMENT, "container contains invalid characters: %s", container);
  return WEFT_OK;
}

/* Returns "_N_NODE", which is the same for every call with this session and node.  The caller frees it. */
static char *resource_private_name(resources *r, const char *session, const char *node) {
  char *key = weft__sprintf("%s" SEPARATOR "%s", session ? session : "", node);
  if (!key) return NULL;
  pthread_mutex_lock(&r->lock);
  char *name = weft__map_get(&r->private_names, key);
  if (!name && (name = weft__sprintf("_%lld_%s", (long long)r->made_names, node))) {
    if (weft__map_put(&r->private_names, key, name) == WEFT_OK) {
      r->made_names++;
    } else {
      weft__free(name);
      name = NULL;
    }
  }
  char *copy = name ? weft__strdup(name) : NULL;
  pthread_mutex_unlock(&r->lock);
  weft__free(key);
  return copy;
}

weft_err weft__resource_name(const kernel *k, bool is_private, char **container, char **name) {
  attr_str in = weft__node_str(k->node, "container"), shared = weft__node_str(k->node, "shared_name");
  WEFT_TRY(resource_check_container(in.data));
  char *at = weft__strdup(container_or_default(in.data));
  if (!at) return WEFT_OOM;
  const bool by_node = !is_private || weft__node_bool(k->node, "use_node_name_sharing", false);
  char *found = shared.size ? weft__strdup(shared.data)
                : !by_node  ? resource_private_name(k->step->resources, k->step->session, k->node->name)
                            : weft__strdup(k->node->name);
  if (!found) {
    weft__free(at);
    return WEFT_OOM;
  }
  *container = at;
  *name = found;
  return WEFT_OK;
}

/* Returns true if the key (container^name^type) has that name. */
static bool key_has_name(const char *key, const char *name) {
  const char *at = strchr(key, SEPARATOR[0]);
  size_t n = strlen(name);
  return at && !strncmp(at + 1, name, n) && at[1 + n] == SEPARATOR[0];
}

/* Removes one private name of the session, and its resource (*gone) from the table; returns false if none is left. */
static bool resources_end_one(resources *r, const char *session, resource **gone) {
  char *name = NULL;
  *gone = NULL;
  pthread_mutex_lock(&r->lock);
  for (int i = 0; i < r->private_names.used && !name; i++) {
    const char *key = r->private_names.entries[i].key;
    if (key && key_in_container(key, session)) name = weft__map_remove(&r->private_names, key);
  }
  for (int i = 0; name && i < r->table.used && !*gone; i++) {
    const char *key = r->table.entries[i].key;
    if (key && key_has_name(key, name)) *gone = weft__map_remove(&r->table, key);
  }
  if (*gone) atomic_fetch_add(&r->generation, 1);
  pthread_mutex_unlock(&r->lock);
  weft__free(name);
  return name != NULL;
}

void weft__resources_end_session(resources *r, const char *session) {
  for (resource *gone; resources_end_one(r, session ? session : "", &gone);)
    if (gone) resource_drop(gone);
}

/* ---- the cache of a node of a plan ---- */

/* A step may still use an older resource while a newer step has found another.  So all are kept until the plan ends.  A
 * dropped resource has freed its contents, so an old one is small. */
typedef struct cached_resource {
  struct cached_resource *older;
  const resources *from;
  atomic_llong generation; /* of the table when the resource was last found there */
  resource *target;
  weft_tensor *handle;
  variable *ref; /* the handle of older ops: a reference to {container, name} */
} cached_resource;

struct resource_cache {
  _Atomic(cached_resource *) newest;
};

weft_err weft__resource_prepare(const weft_node *node, void **state) {
  (void)node;
  *state = weft__alloc_zero(1, sizeof(struct resource_cache));
  return *state ? WEFT_OK : WEFT_OOM;
}

static void cached_resource_destroy(cached_resource *m) {
  weft__object_release((object *)m->target);
  weft__object_release((object *)m->ref);
  weft_tensor_destroy(m->handle);
  weft__free(m);
}

void weft__resource_unprepare(void *state) {
  struct resource_cache *memory = state;
  if (!memory) return;
  for (cached_resource *m = atomic_load(&memory->newest), *older; m; m = older) {
    older = m->older;
    cached_resource_destroy(m);
  }
  weft__free(memory);
}

weft_err weft__resource_ref_create(variable **out, const char *container, const char *name) {
  weft_tensor *t = NULL;
  variable *v = NULL;
  WEFT_TRY(weft__tensor_create(&t, WEFT_STRING, &SHAPE1(2)));
  weft_err err = weft__str_set(&TENSOR_DATA(t, str)[0], container, strlen(container));
  if (err == WEFT_OK) err = weft__str_set(&TENSOR_DATA(t, str)[1], name, strlen(name));
  if (err == WEFT_OK) err = weft__variable_create(&v, WEFT_STRING, &SHAPE1(2), name);
  if (err == WEFT_OK) err = weft__variable_assign(v, t);
  weft_tensor_destroy(t);
  if (err == WEFT_OK)
    *out = v;
  else
    weft__object_release((object *)v);
  return err;
}

static bool node_gives_ref(const weft_node *n) { return (int)n->out_type[0] > WEFT_REF_BASE; }

static weft_err cached_resource_look_up(kernel *k, const resource_kind *kind, cached_resource **out) {
  char *container = NULL, *name = NULL;
  cached_resource *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  m->from = k->step->resources;
  atomic_init(&m->generation, atomic_load(&k->step->resources->generation));
  weft_err err = weft__resource_name(k, kind->is_private, &container, &name);
  if (err == WEFT_OK) {
    resource_maker maker = {k->node, name};
    err = weft__resource_get(k->step->resources, container, kind->type, name, kind->make, &maker, &m->target);
  }
  if (err == WEFT_OK && node_gives_ref(k->node) && strcmp(kind->type, VARIABLE_TYPE) != 0)
    err = weft__resource_ref_create(&m->ref, container, name);
  else if (err == WEFT_OK)
    err = weft__handle_create(&m->handle, container, name, m->target);
  weft__free(container);
  weft__free(name);
  if (err == WEFT_OK)
    *out = m;
  else
    cached_resource_destroy(m);
  return err;
}

static weft_err cached_resource_get(kernel *k, const resource_kind *kind, cached_resource **out) {
  struct resource_cache *memory = k->state;
  cached_resource *m = atomic_load_explicit(&memory->newest, memory_order_acquire);
  if (!m || m->from != k->step->resources ||
      atomic_load(&m->generation) != atomic_load(&k->step->resources->generation)) {
    cached_resource *fresh = NULL;
    WEFT_TRY(cached_resource_look_up(k, kind, &fresh));
    if (m && m->target == fresh->target && m->from == fresh->from) {
      atomic_store(&m->generation, atomic_load(&fresh->generation)); /* another resource left the table */
      cached_resource_destroy(fresh);
    } else {
      fresh->older = m;
      while (!atomic_compare_exchange_weak(&memory->newest, &fresh->older, fresh)) {}
      m = fresh;
    }
  }
  *out = m;
  return WEFT_OK;
}

weft_err weft__resource_of_node(kernel *k, const resource_kind *kind, resource **target, const weft_tensor **h) {
  cached_resource *m = NULL;
  WEFT_TRY(cached_resource_get(k, kind, &m));
  if (target) *target = m->target;
  if (h) *h = m->handle;
  return WEFT_OK;
}

weft_err weft__resource_output(kernel *k, const resource_kind *kind, resource **target) {
  cached_resource *m = NULL;
  WEFT_TRY(cached_resource_get(k, kind, &m));
  if (target) *target = m->target;
  if (!m->ref) return weft__out_share(k, 0, m->handle);
  weft__out_ref(k, 0, m->ref);
  return WEFT_OK;
}

static weft_err resource_find_by_strings(const kernel *k, int i, const weft_tensor *t, const char *type,
                                         resource **out) {
  if (t->dtype != WEFT_STRING || weft__tensor_count(t) != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "argument %d is no handle: %s of shape %s", i,
                             weft__dtype_name(t->dtype), weft__shape_text(&t->shape));
  const str *s = TENSOR_DATA(t, str);
  char *container = weft__strndup(s[0].size ? s[0].data : "", s[0].size);
  char *name = weft__strndup(s[1].size ? s[1].data : "", s[1].size);
  weft_err err = container && name ? weft__resource_find(k->step->resources, container, type, name, out) : WEFT_OOM;
  weft__free(container);
  weft__free(name);
  return err;
}

weft_err weft__kernel_resource(const kernel *k, int i, const char *type, resource **out) {
  if (!k->ref[i]) {
    WEFT_TRY(weft__handle_get(k->in[i], type, out));
    weft__object_retain(&(*out)->base);
    return WEFT_OK;
  }
  weft_tensor t = {0};
  WEFT_TRY(weft__variable_read(k->ref[i], &t));
  weft_err err = resource_find_by_strings(k, i, &t, type, out);
  weft__tensor_clear(&t);
  return err;
}

weft_err weft__resource_infer(infer *s) {
  s->out[0] = (int)s->node->out_type[0] > WEFT_REF_BASE ? SHAPE1(2) : SHAPE_SCALAR;
  return WEFT_OK;
}
