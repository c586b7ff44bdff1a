/* step.c - a short list under a lock: a step has few such objects. */
#include "state/step.h"

#include "base/alloc.h"

struct step_object {
  char *name;
  object *object;
  step_object *next;
};

void weft__step_objects_init(step_objects *s) {
  *s = (step_objects){.first = NULL};
  pthread_mutex_init(&s->lock, NULL);
}

void weft__step_objects_finish(step_objects *s) {
  while (s->first) {
    step_object *e = s->first;
    s->first = e->next;
    weft__object_release(e->object);
    weft__free(e->name);
    weft__free(e);
  }
  pthread_mutex_destroy(&s->lock);
}

static object *find(const step_objects *s, const char *name) {
  for (const step_object *e = s->first; e; e = e->next)
    if (strcmp(e->name, name) == 0) return e->object;
  return NULL;
}

/* Takes name and o over, freeing both on failure. */
static step_object *add(step_objects *s, char *name, object *o) {
  step_object *e = name ? weft__alloc(sizeof *e) : NULL;
  if (!e) {
    weft__free(name);
    weft__object_release(o);
    return NULL;
  }
  *e = (step_object){name, o, s->first};
  s->first = e;
  return e;
}

const char *weft__step_object_add(step_objects *s, const char *base, object *o) {
  pthread_mutex_lock(&s->lock);
  step_object *e = add(s, weft__sprintf("%s_%lld", base, (long long)s->count++), o);
  pthread_mutex_unlock(&s->lock);
  return e ? e->name : NULL;
}

weft_err weft__step_object_share(step_objects *s, const char *name, object **o) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  object *there = find(s, name);
  if (there) {
    weft__object_release(*o);
    *o = there;
  } else if (!add(s, weft__strdup(name), *o)) {
    err = WEFT_OOM;
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

object *weft__step_object_find(step_objects *s, const char *name) {
  pthread_mutex_lock(&s->lock);
  object *o = find(s, name);
  pthread_mutex_unlock(&s->lock);
  return o;
}
