/* session_tensor.c - tensors that a session keeps between runs: GetSessionHandle and
 * GetSessionHandleV2, GetSessionTensor, DeleteSessionTensor.
 *
 * A handle is the string NAME;NUMBER;DEVICE.  NAME identifies the store of one GetSessionHandle node in one session;
 * the store is freed with the session.  NUMBER counts the tensors that the node has stored. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/map.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "state/resource.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define STORE_TYPE "session tensors"

typedef struct tensor_store {
  resource base;
  char *name;
  pthread_mutex_t lock; /* guards the rest */
  map tensors;          /* number -> weft_tensor on the heap */
  int64_t next;
} tensor_store;

static void store_destroy(object *o) {
  tensor_store *s = (tensor_store *)o;
  for (int i = 0; i < s->tensors.used; i++) weft_tensor_destroy(s->tensors.entries[i].value);
  weft__map_finish(&s->tensors);
  pthread_mutex_destroy(&s->lock);
  weft__free(s->name);
  weft__free(s);
}

static weft_err store_make(resource **out, void *arg) {
  tensor_store *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->base.base.refs, 1);
  s->base.base.destroy = store_destroy;
  s->base.type = STORE_TYPE;
  pthread_mutex_init(&s->lock, NULL);
  s->name = weft__strdup(((const resource_maker *)arg)->name);
  if (s->name)
    *out = &s->base;
  else
    store_destroy(&s->base.base);
  return s->name ? WEFT_OK : WEFT_OOM;
}

static const resource_kind store_kind = {STORE_TYPE, true, store_make};

/* ---- keeping ---- */

static weft_err store_add(tensor_store *s, weft_tensor *t, int64_t *number) {
  pthread_mutex_lock(&s->lock);
  char key[24];
  *number = s->next++;
  snprintf(key, sizeof key, "%lld", (long long)*number);
  const weft_err err = weft__map_put(&s->tensors, key, t);
  pthread_mutex_unlock(&s->lock);
  return err;
}

static const char *store_device(const kernel *k) {
  if (k->device) return k->device->name;
  return k->node->device && k->node->device[0] ? k->node->device : "/job:localhost/replica:0/task:0/device:CPU:0";
}

/* Keeps input 0 and stores its handle in *made, which the caller frees. */
static weft_err store_keep(kernel *k, tensor_store **s, char **made) {
  weft_tensor *kept = NULL;
  int64_t number = 0;
  WEFT_TRY(weft__kernel_in(k, weft__resource_of_node(k, &store_kind, (resource **)s, NULL)));
  weft_err err = weft__tensor_create_like(&kept, k->in[0]);
  if (!err) err = store_add(*s, kept, &number);
  if (err) {
    weft_tensor_destroy(kept);
    return weft__kernel_in(k, err);
  }
  *made = weft__sprintf("%s;%lld;%s", (*s)->name, (long long)number, store_device(k));
  return *made ? WEFT_OK : WEFT_OOM;
}

static weft_err keep_cpu(kernel *k) {
  tensor_store *s = NULL;
  char *made = NULL;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  WEFT_TRY(store_keep(k, &s, &made));
  const weft_err err = weft__str_set(out->data, made, strlen(made));
  weft__free(made);
  return err;
}

/* The same with a resource as the handle. */
static weft_err keep_v2_cpu(kernel *k) {
  tensor_store *s = NULL;
  char *made = NULL;
  weft_tensor *h = NULL;
  WEFT_TRY(store_keep(k, &s, &made));
  weft_err err = weft__handle_create(&h, "", made, &s->base);
  if (!err) err = weft__out_share(k, 0, h);
  weft_tensor_destroy(h);
  weft__free(made);
  return err;
}

/* ---- finding ---- */

typedef struct parsed_handle {
  char *all, *name, *number; /* all is owned; the others point into it */
} parsed_handle;

/* Returns the length as the precision for "%.*s", at most 4096. */
static int handle_length(const str *s) { return weft__int_sat(s->size > 4096 ? 4096 : s->size); }

static weft_err handle_parse(const kernel *k, parsed_handle *out) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "handle"));
  const str *s = k->in[0]->data;
  char *all = weft__sprintf("%.*s", handle_length(s), s->size ? s->data : "");
  if (!all) return WEFT_OOM;
  char *first = strchr(all, ';'), *second = first ? strchr(first + 1, ';') : NULL;
  if (second) *first = *second = '\0';
  *out = (parsed_handle){all, all, second ? first + 1 : NULL};
  return WEFT_OK;
}

/* Finds the store and the number of the handle in input 0.  Sets *store to NULL if there is no such store. */
static weft_err handle_find(const kernel *k, parsed_handle *h, tensor_store **store) {
  WEFT_TRY(handle_parse(k, h));
  *store = NULL;
  if (!h->number) return WEFT_OK;
  if (weft__resource_find(k->step->resources, "", STORE_TYPE, h->name, (resource **)store)) *store = NULL;
  return WEFT_OK;
}

static weft_err session_tensor_get_cpu(kernel *k) {
  parsed_handle h;
  tensor_store *s;
  WEFT_TRY(handle_find(k, &h, &s));
  weft_err err = WEFT_OK;
  if (s) pthread_mutex_lock(&s->lock);
  const weft_tensor *t = s ? weft__map_get(&s->tensors, h.number) : NULL;
  if (!t)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The tensor with handle '%.*s' is not in the session store.",
                            handle_length(k->in[0]->data), TENSOR_DATA(k->in[0], str)->data);
  else if (t->dtype != k->node->out_type[0])
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the tensor is of type %s, but dtype is %s",
                            weft__dtype_name(t->dtype), weft__dtype_name(k->node->out_type[0]));
  else
    err = weft__out_share(k, 0, t);
  if (s) pthread_mutex_unlock(&s->lock);
  weft__object_release((object *)s);
  weft__free(h.all);
  return err;
}

static weft_err delete_cpu(kernel *k) {
  parsed_handle h;
  tensor_store *s;
  WEFT_TRY(handle_find(k, &h, &s));
  if (s) pthread_mutex_lock(&s->lock);
  weft_tensor *t = s ? weft__map_remove(&s->tensors, h.number) : NULL;
  if (s) pthread_mutex_unlock(&s->lock);
  weft__object_release((object *)s);
  weft__free(h.all);
  weft_tensor_destroy(t);
  if (t) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Failed to delete a tensor with handle '%.*s' in the session store.",
                           handle_length(k->in[0]->data), TENSOR_DATA(k->in[0], str)->data);
}

static weft_err session_tensor_handle_infer(infer *s) { return weft__infer_rank(s, 0, 0, NULL); }

OPS(session_tensor) = {
    {"GetSessionHandle(value:T) -> (handle:string) | T:type ; stateful", "Keeps a tensor in the session.",
     .infer = weft__infer_scalar, .cpu = keep_cpu, .prepare = weft__resource_prepare,
     .unprepare = weft__resource_unprepare, .no_grad = true, .narrow = NARROW_ALL},
    {"GetSessionHandleV2(value:T) -> (handle:resource) | T:type ; stateful", "Keeps a tensor in the session.",
     .infer = weft__infer_scalar, .cpu = keep_v2_cpu, .prepare = weft__resource_prepare,
     .unprepare = weft__resource_unprepare, .no_grad = true, .narrow = NARROW_ALL},
    {"GetSessionTensor(handle:string) -> (value:dtype) | dtype:type ; stateful", "A tensor that the session keeps.",
     .infer = session_tensor_handle_infer, .cpu = session_tensor_get_cpu, .no_grad = true, .narrow = NARROW_ALL},
    {"DeleteSessionTensor(handle:string) -> () ; stateful", "Drops a tensor that the session keeps.",
     .infer = session_tensor_handle_infer, .cpu = delete_cpu, .no_grad = true},
    {.scenario = "tests/python/test_calls.py"},
};
