/* lookup.c - an array of entries with a hash index (open addressing).
 *
 * `lock` is a read-write lock: many threads find, one changes.  A slot of the index has the number of an entry plus one.
 * There are at least twice as many slots as entries, so that a search soon reaches an empty slot.  The last entry is moved
 * into the gap of a removed one. */
#include "state/lookup.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include <pthread.h>
#include <string.h>

typedef struct store {
  weft_tensor keys, values; /* [capacity], [capacity, row...]; the first n are entries */
  int64_t n, capacity;
  int64_t *slot; /* 2 * capacity of them, a power of two */
} store;

struct lookup {
  resource base;
  lookup_spec spec;
  int64_t row; /* elements of one value */
  pthread_rwlock_t lock;
  bool filled;
  store store;
};

const lookup_spec *weft__lookup_spec(const lookup *t) { return &t->spec; }

/* ---- the store ---- */

static char *lookup_key_at(const weft_tensor *keys, int64_t i) {
  return (char *)keys->data + (size_t)i * weft__dtype_size(keys->dtype);
}

static char *lookup_value_at(const lookup *t, const weft_tensor *values, int64_t i) {
  return (char *)values->data + (size_t)(i * t->row) * weft__dtype_size(t->spec.value);
}

/* Returns the bytes of a key, borrowed. */
static str lookup_key_bytes(weft_dtype type, const char *key) {
  return type == WEFT_STRING ? *(const str *)(const void *)key : (str){(char *)(uintptr_t)key, weft__dtype_size(type)};
}

static uint64_t lookup_hash(str s) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < s.size; i++) h = (h ^ (unsigned char)s.data[i]) * 1099511628211u;
  return h ^ h >> 29;
}

/* Returns the slot of this key, or the empty slot where it would be inserted. */
static int64_t *store_slot(const store *s, weft_dtype type, const char *key) {
  WEFT_ASSERT(s->n <= s->capacity && (s->capacity & (s->capacity - 1)) == 0); /* an empty slot ends every walk */
  const str want = lookup_key_bytes(type, key);
  const uint64_t mask = (uint64_t)(2 * s->capacity - 1);
  for (uint64_t i = lookup_hash(want) & mask;; i = (i + 1) & mask) {
    if (!s->slot[i]) return &s->slot[i];
    const str has = lookup_key_bytes(type, lookup_key_at(&s->keys, s->slot[i] - 1));
    if (has.size == want.size && (!want.size || !memcmp(has.data, want.data, want.size))) return &s->slot[i];
  }
}

static void store_finish(store *s) {
  weft__tensor_clear(&s->keys);
  weft__tensor_clear(&s->values);
  weft__free(s->slot);
  *s = (store){0};
}

/* Makes an empty store of that capacity. */
static weft_err store_init(const lookup *t, store *s, int64_t capacity) {
  shape rows;
  *s = (store){.capacity = capacity};
  WEFT_TRY(weft__lookup_values_shape(t, &SHAPE1(capacity), &rows));
  weft_err err = weft__tensor_init(&s->keys, t->spec.key, &SHAPE1(capacity));
  if (!err) err = weft__tensor_init(&s->values, t->spec.value, &rows);
  if (!err && !(s->slot = weft__alloc_zero(2 * (size_t)capacity, sizeof *s->slot))) err = WEFT_OOM;
  if (err) store_finish(s);
  return err;
}

/* Moves elements; the old ones are zero afterwards. */
static void lookup_move_elements(weft_dtype type, void *to, void *from, int64_t n) {
  memcpy(to, from, (size_t)n * weft__dtype_size(type));
  memset(from, 0, (size_t)n * weft__dtype_size(type));
}

static weft_err store_grow(const lookup *t, store *s) {
  store wider;
  WEFT_TRY(store_init(t, &wider, 2 * s->capacity));
  lookup_move_elements(t->spec.key, wider.keys.data, s->keys.data, s->n);
  if (t->row) lookup_move_elements(t->spec.value, wider.values.data, s->values.data, s->n * t->row);
  for (; wider.n < s->n; wider.n++) *store_slot(&wider, t->spec.key, lookup_key_at(&wider.keys, wider.n)) = wider.n + 1;
  store_finish(s);
  *s = wider;
  return WEFT_OK;
}

static void lookup_print_element(text *out, weft_dtype type, void *data) {
  if (type == WEFT_STRING) {
    weft__text_add(out, ((str *)data)->data, ((str *)data)->size);
    return;
  }
  weft_tensor one = {.dtype = type, .shape = SHAPE_SCALAR, .data = data};
  text printed = {0};
  weft__tensor_print(&printed, &one, 1); /* in brackets */
  if (printed.size > 2) weft__text_add(out, printed.data + 1, printed.size - 2);
  weft__text_finish(&printed);
}

static bool lookup_same_value(const lookup *t, const char *a, const char *b) {
  if (t->spec.value != WEFT_STRING) return !memcmp(a, b, (size_t)t->row * weft__dtype_size(t->spec.value));
  const str x = lookup_key_bytes(WEFT_STRING, a), y = lookup_key_bytes(WEFT_STRING, b);
  return x.size == y.size && (!x.size || !memcmp(x.data, y.data, x.size));
}

/* Fails because a fixed table would get two values for one key. */
static weft_err lookup_fail_duplicate(const lookup *t, char *key, char *has, char *came) {
  text words = {0};
  weft__text_puts(&words, "HashTable has different value for same key. Key ");
  lookup_print_element(&words, t->spec.key, key);
  weft__text_puts(&words, " has ");
  lookup_print_element(&words, t->spec.value, has);
  weft__text_puts(&words, " and trying to add value ");
  lookup_print_element(&words, t->spec.value, came);
  const weft_err err = weft__fail(WEFT_FAILED_PRECONDITION, "%s", weft__text_get(&words));
  weft__text_finish(&words);
  return err;
}

static weft_err store_put(const lookup *t, store *s, char *key, char *came) {
  if (s->n == s->capacity) WEFT_TRY(store_grow(t, s));
  int64_t *slot = store_slot(s, t->spec.key, key);
  if (*slot && t->spec.fixed) {
    char *has = lookup_value_at(t, &s->values, *slot - 1);
    return lookup_same_value(t, has, came) ? WEFT_OK : lookup_fail_duplicate(t, key, has, came);
  }
  const int64_t at = *slot ? *slot - 1 : s->n;
  WEFT_TRY(weft__elements_copy(t->spec.key, lookup_key_at(&s->keys, at), key, 1));
  WEFT_TRY(weft__elements_copy(t->spec.value, lookup_value_at(t, &s->values, at), came, t->row));
  if (!*slot) *slot = ++s->n;
  return WEFT_OK;
}

/* Empties a slot, and moves later slots that would no longer be found. */
static void store_empty_slot(const store *s, weft_dtype type, int64_t *slot) {
  const uint64_t mask = (uint64_t)(2 * s->capacity - 1);
  uint64_t hole = (uint64_t)(slot - s->slot);
  for (uint64_t i = (hole + 1) & mask; s->slot[i]; i = (i + 1) & mask) {
    const uint64_t home = lookup_hash(lookup_key_bytes(type, lookup_key_at(&s->keys, s->slot[i] - 1))) & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    s->slot[hole] = s->slot[i];
    hole = i;
  }
  s->slot[hole] = 0;
}

/* Frees the memory of string elements. */
static void lookup_clear_elements(weft_dtype type, char *at, int64_t n) {
  for (int64_t i = 0; type == WEFT_STRING && i < n; i++) weft__str_set((str *)(void *)at + i, NULL, 0);
}

static void store_remove(const lookup *t, store *s, const char *key) {
  int64_t *slot = store_slot(s, t->spec.key, key);
  if (!*slot) return;
  const int64_t at = *slot - 1, last = s->n - 1;
  int64_t *of_last = store_slot(s, t->spec.key, lookup_key_at(&s->keys, last));
  *of_last = at + 1;
  if (at != last) {
    char swapped[sizeof(str)];
    const size_t size = weft__dtype_size(t->spec.key), row = (size_t)t->row * weft__dtype_size(t->spec.value);
    memcpy(swapped, lookup_key_at(&s->keys, at), size);
    memcpy(lookup_key_at(&s->keys, at), lookup_key_at(&s->keys, last), size);
    memcpy(lookup_key_at(&s->keys, last), swapped, size);
    for (size_t i = 0; i < row; i++) { /* byte by byte, because a row may be long */
      char *a = lookup_value_at(t, &s->values, at) + i, *b = lookup_value_at(t, &s->values, last) + i, kept = *a;
      *a = *b;
      *b = kept;
    }
    *slot = last + 1;
  }
  store_empty_slot(s, t->spec.key, slot);
  lookup_clear_elements(t->spec.key, lookup_key_at(&s->keys, last), 1);
  lookup_clear_elements(t->spec.value, lookup_value_at(t, &s->values, last), t->row);
  s->n--;
}

/* ---- the interface ---- */

weft_err weft__lookup_values_shape(const lookup *t, const shape *keys, shape *out) {
  if (keys->rank + t->spec.row.rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "values of shape %s for keys of shape %s have more than %d axes",
                      weft__shape_text(&t->spec.row), weft__shape_text(keys), WEFT_MAX_RANK);
  *out = *keys;
  for (int i = 0; i < t->spec.row.rank; i++) out->dim[out->rank++] = t->spec.row.dim[i];
  return WEFT_OK;
}

int64_t weft__lookup_size(lookup *t) {
  pthread_rwlock_rdlock(&t->lock);
  const int64_t n = t->store.n;
  pthread_rwlock_unlock(&t->lock);
  return n;
}

weft_err weft__lookup_find(lookup *t, const weft_tensor *keys, const weft_tensor *otherwise, weft_tensor *out) {
  const bool each = !t->spec.fixed && otherwise->shape.rank != t->spec.row.rank;
  weft_err err = WEFT_OK;
  pthread_rwlock_rdlock(&t->lock);
  if (t->spec.fixed && !t->filled) err = weft__fail(WEFT_FAILED_PRECONDITION, "Table not initialized.");
  for (int64_t i = 0, n = weft__tensor_count(keys); i < n && !err; i++) {
    const int64_t at = *store_slot(&t->store, t->spec.key, lookup_key_at(keys, i));
    const char *from = at ? lookup_value_at(t, &t->store.values, at - 1) : lookup_value_at(t, otherwise, each ? i : 0);
    err = weft__elements_copy(t->spec.value, lookup_value_at(t, out, i), from, t->row);
  }
  pthread_rwlock_unlock(&t->lock);
  return err;
}

static weft_err store_put_all(const lookup *t, store *s, const weft_tensor *keys, const weft_tensor *values) {
  for (int64_t i = 0, n = weft__tensor_count(keys); i < n; i++)
    WEFT_TRY(store_put(t, s, lookup_key_at(keys, i), lookup_value_at(t, values, i)));
  return WEFT_OK;
}

enum { FIRST_CAPACITY = 8 };

weft_err weft__lookup_fill(lookup *t, const weft_tensor *keys, const weft_tensor *values) {
  store fresh;
  WEFT_TRY(store_init(t, &fresh, FIRST_CAPACITY));
  weft_err err = WEFT_OK;
  pthread_rwlock_wrlock(&t->lock);
  if (t->spec.fixed && t->filled) {
    if (weft__tensor_count(keys) != t->store.n)
      err = weft__fail(WEFT_FAILED_PRECONDITION, "Table was already initialized with different data.");
  } else if (!(err = store_put_all(t, &fresh, keys, values))) {
    const store before = t->store;
    t->store = fresh;
    fresh = before;
    t->filled = true;
  }
  pthread_rwlock_unlock(&t->lock);
  store_finish(&fresh);
  return err;
}

static weft_err lookup_check_mutable(const lookup *t, const char *what) {
  if (!t->spec.fixed) return WEFT_OK;
  return weft__fail(WEFT_UNIMPLEMENTED, "%s not supported by InitializableLookupTable implementations", what);
}

weft_err weft__lookup_insert(lookup *t, const weft_tensor *keys, const weft_tensor *values) {
  WEFT_TRY(lookup_check_mutable(t, "Insert"));
  pthread_rwlock_wrlock(&t->lock);
  const weft_err err = store_put_all(t, &t->store, keys, values);
  pthread_rwlock_unlock(&t->lock);
  return err;
}

weft_err weft__lookup_remove(lookup *t, const weft_tensor *keys) {
  WEFT_TRY(lookup_check_mutable(t, "Remove"));
  pthread_rwlock_wrlock(&t->lock);
  for (int64_t i = 0, n = weft__tensor_count(keys); i < n && t->store.n; i++)
    store_remove(t, &t->store, lookup_key_at(keys, i));
  pthread_rwlock_unlock(&t->lock);
  return WEFT_OK;
}

static weft_err lookup_export_all(lookup *t, weft_tensor *keys, weft_tensor *values) {
  const store *s = &t->store;
  shape rows;
  WEFT_TRY(weft__lookup_values_shape(t, &SHAPE1(s->n), &rows));
  WEFT_TRY(weft__tensor_init(keys, t->spec.key, &SHAPE1(s->n)));
  weft_err err = weft__tensor_init(values, t->spec.value, &rows);
  if (!err) err = weft__elements_copy(t->spec.key, keys->data, s->keys.data, s->n);
  if (!err) err = weft__elements_copy(t->spec.value, values->data, s->values.data, s->n * t->row);
  if (!err) return WEFT_OK;
  weft__tensor_clear(keys);
  weft__tensor_clear(values);
  return err;
}

weft_err weft__lookup_export(lookup *t, weft_tensor *keys, weft_tensor *values) {
  pthread_rwlock_rdlock(&t->lock);
  const weft_err err = t->spec.fixed && !t->filled ? weft__fail(WEFT_ABORTED, "HashTable is not initialized.")
                                                   : lookup_export_all(t, keys, values);
  pthread_rwlock_unlock(&t->lock);
  return err;
}

static void lookup_destroy(object *o) {
  lookup *t = (lookup *)o;
  store_finish(&t->store);
  pthread_rwlock_destroy(&t->lock);
  weft__free(t);
}

weft_err weft__lookup_create(lookup **out, const lookup_spec *spec) {
  const int64_t row = weft__shape_count(&spec->row);
  if (row < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a table's values need a known shape, not %s",
                      weft__shape_text(&spec->row));
  if (!weft__dtype_size(spec->key) || !weft__dtype_size(spec->value) || weft__dtype_class(spec->key) == CLASS_OBJECT ||
      weft__dtype_class(spec->value) == CLASS_OBJECT)
    return weft__fail(WEFT_INVALID_ARGUMENT, "there are no tables from %s to %s", weft__dtype_name(spec->key),
                      weft__dtype_name(spec->value));
  lookup *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  atomic_init(&t->base.base.refs, 1);
  t->base.base.destroy = lookup_destroy;
  t->base.type = LOOKUP_TYPE;
  t->spec = *spec;
  t->row = row;
  pthread_rwlock_init(&t->lock, NULL);
  const weft_err err = store_init(t, &t->store, FIRST_CAPACITY);
  if (err)
    lookup_destroy(&t->base.base);
  else
    *out = t;
  return err;
}
