/* record_input.c - RecordInput: batches of random records of many files, without end.
 *
 * Each epoch reads the files in another order.  A buffer of file_buffer_size records is kept full, and every record of
 * a batch is a random one of it.  The buffer is emptied at the end of an epoch, so an epoch has every record once.  The
 * node reads on the thread of the step; TensorFlow's file_parallelism threads do not change what comes out. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/philox.h"
#include "graph/kernel.h"
#include "io/confine.h"
#include "io/file.h"
#include "io/record.h"
#include <pthread.h>

typedef struct record_input {
  pthread_mutex_t lock; /* guards what follows */
  philox_reader random;
  path_list files;
  record_reader *reader;
  int next, *order; /* the next file of the epoch; their order */
  int64_t epoch, n, capacity;
  str *buffer;
} record_input;

static void input_free(void *state) {
  record_input *r = state;
  if (!r) return;
  weft__records_close(r->reader);
  for (int64_t i = 0; r->buffer && i < r->n; i++) weft__str_set(&r->buffer[i], NULL, 0);
  weft__free(r->buffer);
  weft__free(r->order);
  weft__path_list_finish(&r->files);
  pthread_mutex_destroy(&r->lock);
  weft__free(r);
}

static weft_err input_prepare(const weft_node *node, void **state) {
  record_input *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  pthread_mutex_init(&r->lock, NULL);
  r->capacity = weft__node_int(node, "file_buffer_size", 10000);
  if (r->capacity < 1) r->capacity = 1;
  r->random = weft__philox_reader(weft__philox((uint64_t)weft__node_int(node, "file_random_seed", 301), 0));
  *state = r;
  return WEFT_OK;
}

/* Finds the files, and allocates the buffer. */
static weft_err input_find(const kernel *k, record_input *r) {
  const char *pattern = weft__node_str(k->node, "file_pattern").data;
  WEFT_TRY(weft__path_allowed(pattern));
  WEFT_TRY(weft__file_match(pattern, &r->files));
  if (!r->files.n) return weft__fail(WEFT_NOT_FOUND, "Found no files at %s", pattern);
  r->order = weft__alloc_zero((size_t)r->files.n, sizeof *r->order);
  r->buffer = weft__alloc_zero((size_t)r->capacity, sizeof *r->buffer);
  return r->order && r->buffer ? WEFT_OK : WEFT_OOM;
}

/* Chooses the order of the files for the next epoch: shuffled, and moved by a share of their number. */
static void input_shuffle(const kernel *k, record_input *r) {
  const int n = r->files.n, by = (int)(weft__node_float(k->node, "file_shuffle_shift_ratio", 0) * (float)n);
  int *at = r->order;
  for (int i = 0; i < n; i++) at[i] = i;
  for (int i = n - 1; i > 0; i--) {
    const uint32_t j = weft__philox_below(&r->random, (uint32_t)i + 1);
    const int held = at[i];
    at[i] = at[j];
    at[j] = held;
  }
  for (int i = 0; i < n && by > 0; i++) at[i] = (at[i] + weft__int_sat(r->epoch * by % n)) % n;
  r->next = 0;
  r->epoch++;
}

/* Reads one record into the buffer; sets *end at the end of the epoch. */
static weft_err input_read(const kernel *k, record_input *r, bool *end) {
  const attr_str packed = weft__node_str(k->node, "compression_type");
  text record = {0};
  uint64_t offset;
  for (;;) {
    bool over = false;
    if (!r->reader) {
      *end = r->next >= r->files.n;
      if (*end) return WEFT_OK;
      WEFT_TRY(weft__records_open(&r->reader, r->files.path[r->order[r->next]], weft__compression_of(packed.data)));
      r->next++;
    }
    weft_err err = weft__record_next(r->reader, &record, &offset, &over);
    if (!err && !over) err = weft__str_set(&r->buffer[r->n], weft__text_get(&record), record.size);
    weft__text_finish(&record);
    if (err) return err;
    if (!over) {
      r->n++;
      return WEFT_OK;
    }
    weft__records_close(r->reader);
    r->reader = NULL;
  }
}

/* Moves a random record of the buffer to *out. */
static weft_err input_take(const kernel *k, record_input *r, str *out) {
  bool end = r->epoch == 0;
  for (int epochs = 0; r->n == 0 || !end;) {
    if (r->n == 0 && end) {
      if (epochs++ > 1) return weft__fail(WEFT_OUT_OF_RANGE, "the files have no records");
      input_shuffle(k, r);
      end = false;
    }
    if (r->n == r->capacity) break;
    WEFT_TRY(input_read(k, r, &end));
  }
  str *from = &r->buffer[weft__philox_below(&r->random, (uint32_t)r->n)];
  *out = *from;
  *from = r->buffer[--r->n];
  r->buffer[r->n] = (str){0};
  return WEFT_OK;
}

static weft_err input_cpu(kernel *k) {
  record_input *r = k->state;
  const int64_t n = weft__node_int(k->node, "batch_size", 32);
  const shape s = SHAPE1(n < 0 ? 0 : n);
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  pthread_mutex_lock(&r->lock);
  weft_err err = r->buffer ? WEFT_OK : input_find(k, r);
  for (int64_t i = 0; i < n && !err; i++) err = input_take(k, r, &TENSOR_DATA(y, str)[i]);
  pthread_mutex_unlock(&r->lock);
  return weft__kernel_in(k, err);
}

OPS(record_input) = {
    {"RecordInput() -> (records:string) | file_pattern:string file_random_seed:int=301 "
     "file_shuffle_shift_ratio:float=0 "
     "file_buffer_size:int=10000 file_parallelism:int=16 batch_size:int=32 compression_type:string='' ; stateful",
     "A batch of random records of files.", OP_BLOCKING, .infer = weft__infer_none, .cpu = input_cpu,
     .prepare = input_prepare, .unprepare = input_free},
    {.scenario = "tests/python/test_rare_inputs.py"},
};
