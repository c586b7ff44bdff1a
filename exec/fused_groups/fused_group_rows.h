/* fused_group_rows.h - what groups run row by row: sums, means and softmaxes along the last axis of their matrix, and
 * what is computed from the sums, one number per row.
 *
 * So a layer norm, an attention's softmax with its mask and dropout, and the gradients of both are one kernel each. */
#ifndef WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_ROWS_H
#define WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_ROWS_H

#include "exec/fused_groups/fused_group_draft.h"

typedef enum member_kind {
  MEMBER_NOT,   /* the item cannot be a member */
  MEMBER_STEP,  /* it works element by element, on the draft's shape or on one number per row */
  MEMBER_ROW,   /* it works on whole rows */
  MEMBER_MOVED, /* it transposes what the group reads (exec/fused_groups/fused_group_moves.h) */
  MEMBER_SAME   /* its output is its input 0, one number per row, with another shape or repeated along the row */
} member_kind;

/* Returns what the item would be in the draft, and stores its step. */
member_kind weft__fused_group_member_kind(const draft *d, const plan_item *it, fused_step *s);
/* Returns true if s has one element for each row of `whole`: its last axis is 1 or missing. */
bool weft__fused_group_is_column(const shape *s, const shape *whole);
/* Returns true if the draft's kernel is compiled, or simulated, so that its views can have axes of their own. */
bool weft__draft_compiles(const draft *d);
/* Stores the view of a tensor that broadcasts to `whole`.  Returns false if that takes too many axes. */
bool weft__fused_group_broadcast_view(const shape *s, const shape *whole, gpu_view *v);

#endif
