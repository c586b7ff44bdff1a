/* nccl.cu - sums over several cards with NCCL, which is loaded when a plan first needs it.
 *
 * A communicator is created for each set of cards and kept.  The lock guards them, and it is held while a sum is
 * queued, because all cards must get the sums in the same order. */
#include "device/nccl.cuh"

#include "device/nvidia_library.cuh"
#include <pthread.h>
#include <string.h>

/* Declarations of nccl.h; the plug-in is built without that header. */
typedef struct ncclComm *ncclComm_t;
enum { NCCL_SUM = 0, NCCL_HALF = 6, NCCL_FLOAT = 7, NCCL_DOUBLE = 8, NCCL_BFLOAT16 = 9 };
extern "C" {
int ncclCommInitAll(ncclComm_t *comms, int n, const int *cards);
int ncclReduce(const void *in, void *out, size_t count, int type, int op, int root, ncclComm_t comm, cudaStream_t s);
int ncclGroupStart(void);
int ncclGroupEnd(void);
const char *ncclGetErrorString(int code);
}

enum { MAX_CARDS = 16, MAX_SETS = 8 };
struct card_set {
  int n, card[MAX_CARDS];
  ncclComm_t comm[MAX_CARDS];
};
static card_set sets[MAX_SETS];
static int n_sets;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int nccl_type_of(weft_dtype t) {
  switch (t) {
  case WEFT_HALF: return NCCL_HALF;
  case WEFT_FLOAT: return NCCL_FLOAT;
  case WEFT_DOUBLE: return NCCL_DOUBLE;
  case WEFT_BFLOAT16: return NCCL_BFLOAT16;
  default: return -1;
  }
}

/* Finds or creates the communicator of these cards; NULL if NCCL fails.  The lock is held. */
static card_set *set_of(int n, const int *card) {
  for (int i = 0; i < n_sets; i++)
    if (sets[i].n == n && memcmp(sets[i].card, card, sizeof *card * (size_t)n) == 0) return &sets[i];
  const auto make = GPU_CALL(nccl, ncclCommInitAll);
  if (!make || n > MAX_CARDS || n_sets == MAX_SETS) return nullptr;
  card_set *s = &sets[n_sets];
  if (make(s->comm, n, card) != 0) return nullptr;
  s->n = n;
  memcpy(s->card, card, sizeof *card * (size_t)n);
  n_sets++;
  return s;
}

int nccl_can_sum(int n, const int *card, weft_dtype type, bool *can) {
  pthread_mutex_lock(&lock);
  *can = nccl_type_of(type) >= 0 && set_of(n, card);
  pthread_mutex_unlock(&lock);
  return 0;
}

static int nccl_sum_on_root(const card_set *s, void *const *stream, const void *const *in, int root, void *out,
                            size_t count, int type) {
  const auto one = GPU_CALL(nccl, ncclReduce);
  int code = GPU_CALL(nccl, ncclGroupStart)();
  for (int i = 0; i < s->n && !code; i++)
    code = one(in[i], i == root ? out : nullptr, count, type, NCCL_SUM, root, s->comm[i], (cudaStream_t)stream[i]);
  const int ended = GPU_CALL(nccl, ncclGroupEnd)();
  return code ? code : ended;
}

int nccl_sum(int n, const int *card, void *const *stream, const void *const *in, int root, void *out, size_t count,
             weft_dtype type) {
  pthread_mutex_lock(&lock);
  const card_set *s = set_of(n, card);
  const int code = s ? nccl_sum_on_root(s, stream, in, root, out, count, nccl_type_of(type)) : -1;
  pthread_mutex_unlock(&lock);
  if (code == 0) return 0;
  const cudaError_t e = cudaGetLastError(); /* what NCCL stumbled over */
  return e == cudaSuccess ? NCCL_FAILED : (int)e;
}
