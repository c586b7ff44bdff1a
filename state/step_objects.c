/* step_objects.c - a linked list under a lock, which is a leaf.  A step has few such objects. */
#include "state/step_objects.h"

#include "base/alloc.h"
#include "base/assert.h"

struct step_object {
  char *name;
  resource *object;
  step_object *next;
};

void weft__step_objects_init(step_objects *s) { *s = (step_objects){.lock = PTHREAD_MUTEX_INITIALIZER}; }

void weft__step_objects_finish(step_objects *s) {
  while (s->first) {
    step_object *e = s->first;
    s->first = e->next;
    weft__object_release(&e->object->base);
    weft__free(e->name);
    weft__free(e);
  }
  pthread_mutex_destroy(&s->lock);
}

/* Stores the objects of the step; a kernel that folds constants has none. */
static weft_err step_objects_of(const kernel *k, step_objects **out) {
  *out = k->step ? k->step->objects : NULL;
  if (*out) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION, "%s needs a running step and cannot be run ahead of one",
                           k->node->op_name);
}

static resource *step_objects_find(const step_objects *s, const char *name) {
  for (const step_object *e = s->first; e; e = e->next)
    if (strcmp(e->name, name) == 0) return e->object;
  return NULL;
}

/* Takes ownership of name and r, and frees both on failure.  The lock is held. */
static step_object *step_objects_add(step_objects *s, char *name, resource *r) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  step_object *e = name ? weft__alloc(sizeof *e) : NULL;
  if (!e) {
    weft__free(name);
    weft__object_release(&r->base);
    return NULL;
  }
  *e = (step_object){name, r, s->first};
  s->first = e;
  return e;
}

weft_err weft__step_object_add(const kernel *k, const char *base, resource *r, const char **name) {
  step_objects *s;
  weft_err err = step_objects_of(k, &s);
  if (err) {
    weft__object_release(&r->base);
    return err;
  }
  pthread_mutex_lock(&s->lock);
  const step_object *e = step_objects_add(s, weft__sprintf("%s_%lld", base, (long long)s->count++), r);
  pthread_mutex_unlock(&s->lock);
  if (!e) return WEFT_OOM;
  if (name) *name = e->name;
  return WEFT_OK;
}

typedef struct step_end_hook {
  resource base;
  object *of; /* a reference */
  void (*end)(object *o);
} step_end_hook;

static void step_end_hook_destroy(object *o) {
  step_end_hook *e = (step_end_hook *)o;
  e->end(e->of);
  weft__object_release(e->of);
  weft__free(e);
}

weft_err weft__step_object_on_end(const kernel *k, object *o, void (*end)(object *o)) {
  step_end_hook *e = weft__alloc_zero(1, sizeof *e);
  if (!e) return WEFT_OOM;
  atomic_init(&e->base.base.refs, 1);
  e->base.base.destroy = step_end_hook_destroy;
  e->base.type = "ending";
  weft__object_retain(o);
  e->of = o;
  e->end = end;
  return weft__step_object_add(k, "ending", &e->base, NULL);
}

weft_err weft__step_object_share(const kernel *k, const char *name, resource *r) {
  step_objects *s;
  weft_err err = step_objects_of(k, &s);
  if (err) {
    weft__object_release(&r->base);
    return err;
  }
  pthread_mutex_lock(&s->lock);
  if (step_objects_find(s, name))
    weft__object_release(&r->base);
  else if (!step_objects_add(s, weft__strdup(name), r))
    err = WEFT_OOM;
  pthread_mutex_unlock(&s->lock);
  return err;
}

weft_err weft__step_object_find(const kernel *k, const char *type, const char *name, resource **out) {
  step_objects *s;
  WEFT_TRY(step_objects_of(k, &s));
  pthread_mutex_lock(&s->lock);
  *out = step_objects_find(s, name);
  pthread_mutex_unlock(&s->lock);
  if (!*out) return weft__kernel_fail(k, WEFT_NOT_FOUND, "%s %s does not exist in this step", type, name);
  if (strcmp((*out)->type, type) == 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_NOT_FOUND, "%s %s does not exist in this step: %s is a %s", type, name, name,
                           (*out)->type);
}
