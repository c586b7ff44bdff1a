/* progress.c - finds the loss and the global step among the fetches of a request. */
#include "cluster/status/progress.h"

#include "base/alloc.h"
#include <math.h>
#include <string.h>

enum {
  FETCH_OTHER,
  FETCH_LOSS,
  FETCH_NUMBER,
  FETCH_STEP
}; /* a number is the loss if it is the only one and none is named */

static bool name_contains(const char *name, const char *const *words) {
  for (; *words; words++)
    if (strcasestr(name, *words)) return true;
  return false;
}

static unsigned char progress_role_of(const weft_graph *g, weft_out o) {
  static const char *const loss[] = {"loss", "cost", "entropy", "xent", NULL};
  static const char *const other[] = {"accuracy", "rate", "step", "precision", "auc", "time", "norm", NULL};
  static const char *const steps[] = {"global_step", NULL};
  const weft_dtype type = weft__dtype_base(weft__out_type(g, o));
  const char *name = g->node[o.node]->name;
  if (type == WEFT_INT64) return name_contains(name, steps) ? FETCH_STEP : FETCH_OTHER;
  if (type != WEFT_FLOAT && type != WEFT_DOUBLE) return FETCH_OTHER;
  if (name_contains(name, loss)) return FETCH_LOSS;
  return name_contains(name, other) ? FETCH_OTHER : FETCH_NUMBER;
}

weft_err weft__progress_find(progress *out, weft_graph *g, const plan_request *r) {
  *out = (progress){.n_fetch = r->n_fetch};
  if (!r->n_fetch) return WEFT_OK;
  out->role = weft__alloc((size_t)r->n_fetch);
  if (!out->role) return WEFT_OOM;
  pthread_mutex_lock(&g->lock);
  for (int i = 0; i < r->n_fetch; i++) out->role[i] = progress_role_of(g, r->fetch[i]);
  pthread_mutex_unlock(&g->lock);
  return WEFT_OK;
}

void weft__progress_finish(progress *p) { weft__free(p->role); }

static bool is_scalar(const weft_tensor *t) { return t && t->buf && t->shape.rank == 0; }

/* Returns the first scalar that is named a loss; else the only number, if there is one; else NaN. */
static double find_loss(const progress *p, weft_tensor *const *fetched) {
  double only = NAN;
  int n = 0;
  for (int i = 0; i < p->n_fetch; i++) {
    const weft_tensor *t = fetched[i];
    if ((p->role[i] != FETCH_LOSS && p->role[i] != FETCH_NUMBER) || !is_scalar(t)) continue;
    const double v = t->dtype == WEFT_FLOAT ? (double)*TENSOR_DATA(t, float) : *TENSOR_DATA(t, double);
    if (p->role[i] == FETCH_LOSS) return v;
    only = v;
    n++;
  }
  return n == 1 ? only : (double)NAN;
}

static int64_t find_step(const progress *p, weft_tensor *const *fetched) {
  for (int i = 0; i < p->n_fetch; i++)
    if (p->role[i] == FETCH_STEP && is_scalar(fetched[i])) return *TENSOR_DATA(fetched[i], int64_t);
  return -1;
}

static void note_error(metrics_uninitialized *u, weft_err err) {
  const char *message = weft__error_message();
  if (err == WEFT_CANCELLED || err == WEFT_OUT_OF_RANGE) return;
  if (weft__error_has(ERROR_UNINITIALIZED))
    weft__metrics_add_uninitialized(u, message);
  else
    weft__metrics_add_error("session", message);
}

void weft__progress_note_run(metrics_uninitialized *u, const progress *p, weft_tensor *const *fetched, weft_err err) {
  weft__metrics_add(METRICS_SESSION_RUNS, 1);
  if (err)
    note_error(u, err);
  else
    weft__metrics_initialized(u);
  if (err || !p->n_fetch) return;
  const double loss = find_loss(p, fetched);
  const int64_t at = find_step(p, fetched);
  if (at >= 0 || !isnan(loss)) weft__metrics_set_progress(at, loss);
}
