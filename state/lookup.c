/* lookup.c - an array of entries with a hash index (open addressing).
 *
 * `lock` is a read-write lock: many threads find, one changes.  A slot of the index has the number of an entry plus
 * one.  There are at least twice as many slots as entries, so that a search soon reaches an empty slot.  The last entry
 * is moved into the gap of a removed one. */
#include "state/lookup.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "codec/hash.h"
#include <pthread.h>
#include <string.h>

typedef struct store {
  weft_tensor keys, values; /* [capacity, key...], [capacity, row...]; the first n are entries */
  int64_t n, capacity;
  int64_t key_row; /* elements of one key; of strings 1 */
  int64_t *slot;   /* 2 * capacity of them, a power of two */
} store;

struct lookup {
  resource base;
  lookup_spec spec;
  int64_t row;                /* elements of one value */
  int64_t key_row;            /* elements of one key */
  int64_t buckets;            /* of a dense table */
  weft_tensor empty, deleted; /* its two keys that mark buckets */
  /* Its buckets as an export shows them; no memory before they are needed. */
  weft_tensor bucket_keys, bucket_values;
  pthread_rwlock_t lock;
  bool filled;
  store store;
};

const lookup_spec *weft__lookup_spec(const lookup *t) { return &t->spec; }

/* ---- the store ---- */

static char *lookup_key_at(const weft_tensor *keys, int64_t i, int64_t key_row) {
  return (char *)keys->data + (size_t)(i * key_row) * weft__dtype_size(keys->dtype);
}

static char *lookup_value_at(const lookup *t, const weft_tensor *values, int64_t i) {
  return (char *)values->data + (size_t)(i * t->row) * weft__dtype_size(t->spec.value);
}

/* Returns the bytes of a key, borrowed. */
static str lookup_key_bytes(weft_dtype type, const char *key, int64_t key_row) {
  if (type == WEFT_STRING) return *(const str *)(const void *)key;
  return (str){(char *)(uintptr_t)key, (size_t)key_row * weft__dtype_size(type)};
}

static uint64_t lookup_hash(str s) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < s.size; i++) h = (h ^ (unsigned char)s.data[i]) * 1099511628211u;
  return h ^ h >> 29;
}

/* Returns the slot of this key, or the empty slot where it would be inserted. */
static int64_t *store_slot(const store *s, weft_dtype type, const char *key) {
  WEFT_ASSERT(s->n <= s->capacity && (s->capacity & (s->capacity - 1)) == 0); /* an empty slot ends every walk */
  const str want = lookup_key_bytes(type, key, s->key_row);
  const uint64_t mask = (uint64_t)(2 * s->capacity - 1);
  for (uint64_t i = lookup_hash(want) & mask;; i = (i + 1) & mask) {
    if (!s->slot[i]) return &s->slot[i];
    const str has = lookup_key_bytes(type, lookup_key_at(&s->keys, s->slot[i] - 1, s->key_row), s->key_row);
    if (has.size == want.size && (!want.size || !memcmp(has.data, want.data, want.size))) return &s->slot[i];
  }
}

static void store_finish(store *s) {
  weft__tensor_clear(&s->keys);
  weft__tensor_clear(&s->values);
  weft__free(s->slot);
  *s = (store){0};
}

static weft_err lookup_rows_shape(const lookup *t, int64_t n, shape *out) {
  if (t->spec.row.rank + 1 > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "rows of shape %s have too many axes", weft__shape_text(&t->spec.row));
  *out = SHAPE1(n);
  for (int i = 0; i < t->spec.row.rank; i++) out->dim[out->rank++] = t->spec.row.dim[i];
  return WEFT_OK;
}

/* Makes an empty store of that capacity. */
static weft_err store_init(const lookup *t, store *s, int64_t capacity) {
  shape rows;
  *s = (store){.capacity = capacity, .key_row = t->key_row};
  WEFT_TRY(lookup_rows_shape(t, capacity, &rows));
  weft_err err = weft__tensor_init(&s->keys, t->spec.key, &SHAPE2(capacity, t->key_row));
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
  lookup_move_elements(t->spec.key, wider.keys.data, s->keys.data, s->n * t->key_row);
  if (t->row) lookup_move_elements(t->spec.value, wider.values.data, s->values.data, s->n * t->row);
  for (; wider.n < s->n; wider.n++)
    *store_slot(&wider, t->spec.key, lookup_key_at(&wider.keys, wider.n, t->key_row)) = wider.n + 1;
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
  const str x = lookup_key_bytes(WEFT_STRING, a, 1), y = lookup_key_bytes(WEFT_STRING, b, 1);
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
  WEFT_TRY(weft__elements_copy(t->spec.key, lookup_key_at(&s->keys, at, t->key_row), key, t->key_row));
  WEFT_TRY(weft__elements_copy(t->spec.value, lookup_value_at(t, &s->values, at), came, t->row));
  if (!*slot) *slot = ++s->n;
  return WEFT_OK;
}

/* Empties a slot, and moves later slots that would no longer be found. */
static void store_empty_slot(const store *s, weft_dtype type, int64_t *slot) {
  const uint64_t mask = (uint64_t)(2 * s->capacity - 1);
  uint64_t hole = (uint64_t)(slot - s->slot);
  for (uint64_t i = (hole + 1) & mask; s->slot[i]; i = (i + 1) & mask) {
    const uint64_t home =
        lookup_hash(lookup_key_bytes(type, lookup_key_at(&s->keys, s->slot[i] - 1, s->key_row), s->key_row)) & mask;
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

/* Byte by byte, because a row may be long. */
static void lookup_swap(char *a, char *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    const char kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

static void store_remove(const lookup *t, store *s, const char *key) {
  int64_t *slot = store_slot(s, t->spec.key, key);
  if (!*slot) return;
  const int64_t at = *slot - 1, last = s->n - 1;
  int64_t *of_last = store_slot(s, t->spec.key, lookup_key_at(&s->keys, last, t->key_row));
  *of_last = at + 1;
  if (at != last) {
    lookup_swap(lookup_key_at(&s->keys, at, t->key_row), lookup_key_at(&s->keys, last, t->key_row),
                (size_t)t->key_row * weft__dtype_size(t->spec.key));
    lookup_swap(lookup_value_at(t, &s->values, at), lookup_value_at(t, &s->values, last),
                (size_t)t->row * weft__dtype_size(t->spec.value));
    *slot = last + 1;
  }
  store_empty_slot(s, t->spec.key, slot);
  lookup_clear_elements(t->spec.key, lookup_key_at(&s->keys, last, t->key_row), 1);
  lookup_clear_elements(t->spec.value, lookup_value_at(t, &s->values, last), t->row);
  s->n--;
}

/* ---- the interface ---- */

weft_err weft__lookup_values_shape(const lookup *t, const shape *given, shape *out) {
  shape of = *given;
  const shape *keys = &of;
  const int own = t->spec.key_row.rank;
  for (int i = 0; i < own; i++)
    if (of.rank < own || of.dim[of.rank - own + i] != t->spec.key_row.dim[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Input key shape %s must end with the table's key shape %s",
                        weft__shape_text(given), weft__shape_text(&t->spec.key_row));
  of.rank -= own;
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

/* ---- dense tables: two keys are no keys ---- */

static bool lookup_is_key(const lookup *t, const weft_tensor *special, const char *key) {
  if (!special->buf) return false;
  const str a = lookup_key_bytes(t->spec.key, special->data, t->key_row),
            b = lookup_key_bytes(t->spec.key, key, t->key_row);
  return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

static weft_err lookup_check_keys(const lookup *t, const weft_tensor *keys) {
  if (!t->spec.dense) return WEFT_OK;
  for (int64_t i = 0, n = weft__tensor_count(keys) / t->key_row; i < n; i++) {
    const char *key = lookup_key_at(keys, i, t->key_row);
    if (lookup_is_key(t, &t->empty, key) || lookup_is_key(t, &t->deleted, key))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Using the %s as a table key is not allowed",
                        lookup_is_key(t, &t->empty, key) ? "empty_key" : "deleted_key");
  }
  return WEFT_OK;
}

weft_err weft__lookup_check_count(const lookup *t, const shape *keys) {
  if (!t->spec.dense || keys->rank == 0) return WEFT_OK;
  shape want = t->spec.key_row;
  memmove(want.dim + 1, want.dim, (size_t)want.rank * sizeof *want.dim);
  want.dim[0] = keys->dim[0];
  want.rank++;
  if (weft__shape_count(keys) == weft__shape_count(&want)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "Expected key shape %s got %s", weft__shape_text(&want),
                    weft__shape_text(keys));
}

weft_err weft__lookup_mark(lookup *t, const weft_tensor *empty, const weft_tensor *deleted) {
  weft_err err = WEFT_OK;
  pthread_rwlock_wrlock(&t->lock);
  if (!t->empty.buf) err = weft__tensor_keep(&t->empty, empty);
  if (!err && deleted && !t->deleted.buf) err = weft__tensor_keep(&t->deleted, deleted);
  if (!err && deleted && lookup_is_key(t, &t->empty, deleted->data))
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Empty and deleted keys cannot be equal");
  pthread_rwlock_unlock(&t->lock);
  return err;
}

/* Returns the hash of a key that says which bucket TensorFlow looks into first. */
static uint64_t lookup_bucket_hash(const lookup *t, const char *key) {
  const weft_tensor parts = {.dtype = t->spec.key, .shape = SHAPE1(t->key_row), .data = (void *)(uintptr_t)key};
  if (t->spec.key == WEFT_STRING) {
    const str s = TENSOR_DATA(&parts, str)[0];
    return weft__hash_murmur(s.size ? s.data : "", s.size);
  }
  uint64_t h = 0;
  for (int64_t j = 0; j < t->key_row; j++) {
    const uint64_t one = (uint64_t)weft__tensor_int(&parts, j);
    h = t->spec.key_row.rank ? h ^ (one + 0x9e3779b97f4a7800u + (h << 10) + (h >> 4)) : one;
  }
  return h;
}

/* Returns the bucket that has the key or, if none has it, the first bucket of its sequence that it may take: one with
 * the deleted key before the first empty one. */
static int64_t lookup_bucket_of(const lookup *t, const weft_tensor *keys, const char *key) {
  const weft_tensor wanted = {.buf = t->empty.buf, .data = (void *)(uintptr_t)key};
  const uint64_t mask = (uint64_t)keys->shape.dim[0] - 1;
  uint64_t at = lookup_bucket_hash(t, key) & mask;
  int64_t deleted = -1;
  for (uint64_t probes = 1; probes <= mask + 1; probes++) { /* they visit each bucket once */
    const char *has = lookup_key_at(keys, (int64_t)at, t->key_row);
    if (lookup_is_key(t, &wanted, has)) return (int64_t)at;
    if (lookup_is_key(t, &t->empty, has)) return deleted >= 0 ? deleted : (int64_t)at;
    if (deleted < 0 && lookup_is_key(t, &t->deleted, has)) deleted = (int64_t)at;
    at = (at + probes) & mask;
  }
  WEFT_ASSERT(deleted >= 0); /* entries never fill all buckets */
  return deleted;
}

static weft_err lookup_bucket_put(const lookup *t, weft_tensor *keys, weft_tensor *values, const char *key,
                                  const char *row) {
  const int64_t at = lookup_bucket_of(t, keys, key);
  WEFT_TRY(weft__elements_copy(t->spec.key, lookup_key_at(keys, at, t->key_row), key, t->key_row));
  return weft__elements_copy(t->spec.value, lookup_value_at(t, values, at), row, t->row);
}

/* Makes buckets without entries. */
static weft_err lookup_buckets_init(const lookup *t, weft_tensor *keys, weft_tensor *values) {
  shape rows;
  if (!t->empty.buf) return weft__fail(WEFT_FAILED_PRECONDITION, "the table has not been made yet");
  WEFT_TRY(lookup_rows_shape(t, t->buckets, &rows));
  if (rows.rank == 1) rows = SHAPE2(t->buckets, 1);
  weft_err err = weft__tensor_init(keys, t->spec.key, &SHAPE2(t->buckets, t->key_row));
  if (!err) err = weft__tensor_init(values, t->spec.value, &rows);
  if (!err && t->spec.value != WEFT_STRING) memset(values->data, 0, weft__tensor_bytes(values));
  for (int64_t i = 0; i < t->buckets && !err; i++)
    err = weft__elements_copy(t->spec.key, lookup_key_at(keys, i, t->key_row), t->empty.data, t->key_row);
  return err;
}

static void lookup_buckets_clear(lookup *t) {
  weft__tensor_clear(&t->bucket_keys);
  weft__tensor_clear(&t->bucket_values);
}

/* Puts the entries of the buckets, or of the store if there are none yet, into new ones: as many as t->buckets says. */
static weft_err lookup_buckets_renew(lookup *t) {
  weft_tensor keys = {0}, values = {0};
  const bool first = !t->bucket_keys.buf;
  const weft_tensor *old = first ? &t->store.keys : &t->bucket_keys,
                    *old_values = first ? &t->store.values : &t->bucket_values;
  weft_err err = lookup_buckets_init(t, &keys, &values);
  for (int64_t i = 0, n = first ? t->store.n : old->shape.dim[0]; i < n && !err; i++) {
    const char *key = lookup_key_at(old, i, t->key_row);
    if (!lookup_is_key(t, &t->empty, key) && !lookup_is_key(t, &t->deleted, key))
      err = lookup_bucket_put(t, &keys, &values, key, lookup_value_at(t, old_values, i));
  }
  lookup_buckets_clear(t);
  if (!err) {
    t->bucket_keys = keys, t->bucket_values = values;
    return WEFT_OK;
  }
  weft__tensor_clear(&keys);
  weft__tensor_clear(&values);
  return err;
}

static bool lookup_has_buckets(const lookup *t) {
  return t->bucket_keys.buf && t->bucket_keys.shape.dim[0] == t->buckets;
}

/* Puts entries that the store has got into the buckets as well.  If that fails, the next export makes them anew. */
static weft_err lookup_buckets_put(lookup *t, const weft_tensor *keys, const weft_tensor *values) {
  weft_err err = t->spec.dense && !lookup_has_buckets(t) ? lookup_buckets_renew(t) : WEFT_OK;
  for (int64_t i = 0, n = weft__tensor_count(keys) / t->key_row; t->spec.dense && i < n && !err; i++)
    err = lookup_bucket_put(t, &t->bucket_keys, &t->bucket_values, lookup_key_at(keys, i, t->key_row),
                            lookup_value_at(t, values, i));
  if (err) lookup_buckets_clear(t);
  return err;
}

/* Gives the bucket of a key the deleted key; it keeps its value, as in TensorFlow. */
static weft_err lookup_bucket_remove(lookup *t, const char *key) {
  if (!t->spec.dense || !t->bucket_keys.buf) return WEFT_OK;
  char *has = lookup_key_at(&t->bucket_keys, lookup_bucket_of(t, &t->bucket_keys, key), t->key_row);
  const weft_tensor wanted = {.buf = t->empty.buf, .data = (void *)(uintptr_t)key};
  if (!lookup_is_key(t, &wanted, has)) return WEFT_OK;
  if (t->deleted.buf) return weft__elements_copy(t->spec.key, has, t->deleted.data, t->key_row);
  lookup_buckets_clear(t);
  return WEFT_OK;
}

static weft_err lookup_export_buckets(lookup *t, weft_tensor *keys, weft_tensor *values) {
  if (!lookup_has_buckets(t)) WEFT_TRY(lookup_buckets_renew(t));
  weft_err err = weft__tensor_init(keys, t->spec.key, &t->bucket_keys.shape);
  if (!err) err = weft__tensor_init(values, t->spec.value, &t->bucket_values.shape);
  if (!err) err = weft__elements_copy(t->spec.key, keys->data, t->bucket_keys.data, t->buckets * t->key_row);
  if (!err) err = weft__elements_copy(t->spec.value, values->data, t->bucket_values.data, t->buckets * t->row);
  if (!err) return WEFT_OK;
  weft__tensor_clear(keys);
  weft__tensor_clear(values);
  return err;
}

/* More buckets where `more` entries would fill too many. */
static weft_err lookup_add_buckets(lookup *t, int64_t more) {
  if (!t->spec.dense) return WEFT_OK;
  while ((double)(t->store.n + more) > (double)t->buckets * (double)t->spec.load) {
    if (t->buckets > INT64_MAX / 64) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "a table cannot have more buckets");
    t->buckets *= 2;
  }
  return WEFT_OK;
}

/* ---- finding and changing ---- */

weft_err weft__lookup_find(lookup *t, const weft_tensor *keys, const weft_tensor *otherwise, weft_tensor *out) {
  const bool each = !t->spec.fixed && otherwise->shape.rank != t->spec.row.rank;
  weft_err err = WEFT_OK;
  pthread_rwlock_rdlock(&t->lock);
  if (t->spec.fixed && !t->filled) err = weft__fail(WEFT_FAILED_PRECONDITION, "Table not initialized.");
  if (!err) err = lookup_check_keys(t, keys);
  for (int64_t i = 0, n = weft__tensor_count(keys) / t->key_row; i < n && !err; i++) {
    const int64_t at = *store_slot(&t->store, t->spec.key, lookup_key_at(keys, i, t->key_row));
    const char *from = at ? lookup_value_at(t, &t->store.values, at - 1) : lookup_value_at(t, otherwise, each ? i : 0);
    err = weft__elements_copy(t->spec.value, lookup_value_at(t, out, i), from, t->row);
  }
  pthread_rwlock_unlock(&t->lock);
  return err;
}

static weft_err store_put_all(const lookup *t, store *s, const weft_tensor *keys, const weft_tensor *values) {
  for (int64_t i = 0, n = weft__tensor_count(keys) / t->key_row; i < n; i++) {
    char *key = lookup_key_at(keys, i, t->key_row);
    if (t->spec.dense && (lookup_is_key(t, &t->empty, key) || lookup_is_key(t, &t->deleted, key))) continue;
    WEFT_TRY(store_put(t, s, key, lookup_value_at(t, values, i)));
  }
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
    if (t->spec.dense && keys->shape.dim[0] > 0) t->buckets = keys->shape.dim[0];
    lookup_buckets_clear(t);
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
  weft_err err = lookup_check_keys(t, keys);
  if (!err) err = lookup_add_buckets(t, weft__tensor_count(keys) / t->key_row);
  if (!err) err = store_put_all(t, &t->store, keys, values);
  if (!err) err = lookup_buckets_put(t, keys, values);
  pthread_rwlock_unlock(&t->lock);
  return err;
}

weft_err weft__lookup_remove(lookup *t, const weft_tensor *keys) {
  WEFT_TRY(lookup_check_mutable(t, "Remove"));
  pthread_rwlock_wrlock(&t->lock);
  weft_err err = lookup_check_keys(t, keys);
  for (int64_t i = 0, n = weft__tensor_count(keys) / t->key_row; !err && i < n && t->store.n; i++) {
    store_remove(t, &t->store, lookup_key_at(keys, i, t->key_row));
    err = lookup_bucket_remove(t, lookup_key_at(keys, i, t->key_row));
  }
  pthread_rwlock_unlock(&t->lock);
  return err;
}

static weft_err lookup_export_all(lookup *t, weft_tensor *keys, weft_tensor *values) {
  const store *s = &t->store;
  shape rows;
  if (t->spec.dense) return lookup_export_buckets(t, keys, values);
  WEFT_TRY(lookup_rows_shape(t, s->n, &rows));
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
  pthread_rwlock_wrlock(&t->lock); /* an export may make the buckets */
  const weft_err err = t->spec.fixed && !t->filled ? weft__fail(WEFT_ABORTED, "HashTable is not initialized.")
                                                   : lookup_export_all(t, keys, values);
  pthread_rwlock_unlock(&t->lock);
  return err;
}

static void lookup_destroy(object *o) {
  lookup *t = (lookup *)o;
  store_finish(&t->store);
  lookup_buckets_clear(t);
  weft__tensor_clear(&t->empty);
  weft__tensor_clear(&t->deleted);
  pthread_rwlock_destroy(&t->lock);
  weft__free(t);
}

static weft_err lookup_check_dense(const lookup_spec *spec) {
  const int64_t key = weft__shape_count(&spec->key_row);
  if (key < 1 || (spec->key == WEFT_STRING && key > 1))
    return weft__fail(WEFT_INVALID_ARGUMENT, "there are no tables with keys of %s of shape %s",
                      weft__dtype_name(spec->key), weft__shape_text(&spec->key_row));
  if (!spec->dense) return WEFT_OK;
  if (spec->buckets < 1 || (spec->buckets & (spec->buckets - 1)) || spec->buckets > INT64_MAX / 64)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Number of buckets must be a power of 2, not %lld",
                      (long long)spec->buckets);
  if (!(spec->load > 0 && spec->load < 1))
    return weft__fail(WEFT_INVALID_ARGUMENT, "max_load_factor must be between 0 and 1, got: %g", (double)spec->load);
  return WEFT_OK;
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
  WEFT_TRY(lookup_check_dense(spec));
  lookup *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  atomic_init(&t->base.base.refs, 1);
  t->base.base.destroy = lookup_destroy;
  t->base.type = LOOKUP_TYPE;
  t->spec = *spec;
  t->row = row;
  t->key_row = weft__shape_count(&spec->key_row);
  t->buckets = spec->buckets;
  pthread_rwlock_init(&t->lock, NULL);
  const weft_err err = store_init(t, &t->store, FIRST_CAPACITY);
  if (err)
    lookup_destroy(&t->base.base);
  else
    *out = t;
  return err;
}
