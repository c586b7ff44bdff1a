/* deferred.h - steps of sparse Adam whose effect on the rows that they do not touch is computed later.
 *
 * TensorFlow's Adam, given slices, decays both slots of the whole table in every step and then updates the whole
 * table.  A `deferred` joins the three tables.  It keeps the numbers of each step and, per row, how many of the steps
 * the row has had.  A step then touches its own rows only.  Before anything else looks at a row, the row gets the steps
 * that it missed, one by one and with the same floating-point operations, so the result has the same bits.
 *
 * While tables are joined, `deferred` of the three variables is set, each variable's lock guards it, and nobody else
 * holds their buffers.  weft__variable_lock, weft__variable_read and weft__variable_assign bring the tables up to date
 * and part them again, so no reader or writer needs to know.  Only those that name their rows use the functions below.
 *
 * Rows are changed with the locks of all three tables held. */
#ifndef WEFT_STATE_DEFERRED_H
#define WEFT_STATE_DEFERRED_H

#include "base/pool.h"
#include "state/variable.h"

enum {
  DEFERRED_VALUE,  /* the variable */
  DEFERRED_MEAN,   /* its slot m */
  DEFERRED_SQUARE, /* its slot v */
  DEFERRED_TABLES
};
enum { DEFERRED_STEPS = 1 << 16 }; /* the history: when it is full, all rows are brought up to date */

typedef struct deferred_step { /* m *= beta1; v *= beta2; value -= rate * m / (sqrt(v) + epsilon) */
  float rate, beta1, beta2, epsilon;
} deferred_step;

struct deferred_updates {
  object base;                      /* the three tables together hold one reference */
  variable *table[DEFERRED_TABLES]; /* one reference each */
  float *data[DEFERRED_TABLES];
  int64_t rows, width;
  uint32_t *applied; /* per row: so many steps of the history it has had */
  deferred_step *step;
  uint32_t n_step;
  int64_t room;
  /* Of all steps of the history: every decay is in [0, 1], every rate finite, every epsilon above 0. */
  bool regular;
  float most_rate, least_epsilon;
  atomic_int dropped; /* so many of the tables have left their container */
};

/* Locks the three variables, which are distinct, for a step; weft__variable_unlock ends it.  They are then joined in
 * this order, or not at all. */
void weft__deferred_lock(variable *const table[DEFERRED_TABLES]);
/* Joins three locked variables of type float and equal shape, with rows of one element or more.  Returns
 * RESOURCE_EXHAUSTED, and the tables stay apart. */
weft_err weft__deferred_join(variable *const table[DEFERRED_TABLES]);
/* Adds a step to the history.  `updates` are the rows to be added to m and v after their decay, `stride` apart.  Every
 * index is within the table.  Returns RESOURCE_EXHAUSTED; nothing has changed then. */
typedef struct deferred_rows {
  const weft_tensor *indices;
  const float *mean, *square;
  int64_t mean_stride, square_stride; /* in elements from one index to the next; 0: one number for all */
} deferred_rows;
weft_err weft__deferred_add(deferred_updates *d, const deferred_step *s, const deferred_rows *r, pool *p);
/* The same step on three tables that are not joined, in the order of TensorFlow's ops. */
void weft__deferred_apply_all(float *const data[DEFERRED_TABLES], int64_t rows, int64_t width, const deferred_step *s,
                              const deferred_rows *r, pool *p);

/* Locks a variable whose rows are to be read, without bringing it up to date; *joined is what joins it, retained, or
 * NULL.  With it, weft__deferred_catch_up must be called before a row is read.  weft__deferred_unlock_rows ends both.
 */
void weft__deferred_lock_rows(variable *v, deferred_updates **joined);
void weft__deferred_unlock_rows(variable *v, deferred_updates *joined);
/* Brings the rows of these indices up to date; all are within the table. */
void weft__deferred_catch_up(deferred_updates *d, const weft_tensor *indices, pool *p);

/* For state/variable.c.  With the lock of v held and v joined: brings all rows of its tables up to date and parts them;
 * the lock of v is given up meanwhile and held again afterwards. */
void weft__deferred_settle(variable *v);
/* With the lock of v held and v joined: notes that v has left its container.  Its value is released when the tables are
 * parted, or now if all three have left.  Gives up the lock. */
void weft__deferred_drop(variable *v);

/* Arithmetic, in state/deferred_rows.c: a row catches up on the steps [from, to); one decay of n numbers; one update
 * of n values by slots that have decayed. */
void weft__deferred_catch_up_row(const deferred_updates *d, int64_t row, uint32_t from, uint32_t to);
void weft__deferred_decay(float *m, float beta, int64_t n);
void weft__deferred_update(float *x, const float *m, const float *v, const deferred_step *s, int64_t n);

#endif
