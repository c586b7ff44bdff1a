/* fused_group_moves.h - transposes that a group does when it reads or writes, such as those of an attention's heads.
 *
 * A group writes a result in the order of a Transpose that reads it, also behind a Reshape.  And a Transpose that
 * rounding or elementwise items read is a member: the group reads its input in the other order.  The last axis must
 * stay the last, so that a thread's four elements are adjacent on both sides. */
#ifndef WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_MOVES_H
#define WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_MOVES_H

#include "exec/fused_groups/fused_group_draft.h"

/* Returns true if the item is a Transpose that the draft can do while it reads, and stores the view of the Transpose's
 * input. */
bool weft__reads_moved(const draft *d, const plan_item *it, gpu_view *v);
/* Stores the view of a Transpose's output, through which its input is written in its own order. */
bool weft__writes_moved(const plan *p, const plan_item *it, gpu_view *v);
/* Returns true if the maker of a Transpose's input works element by element: its group can write in the other order.
 */
bool weft__is_moved_by_maker(const plan *p, const plan_item *it);
/* Returns the number of the member of the draft's shape that makes a slot, or whose result a Reshape makes it from;
 * else -1. */
int weft__moved_member(const plan *p, const draft *d, int slot);
/* Lets the draft write what a Reshape or a Transpose behind a member makes.  Returns false if it cannot. */
bool weft__try_add_move(grouper *b, draft *d, int item);

#endif
