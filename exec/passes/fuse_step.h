/* fuse_step.h - what the passes that fuse elementwise ops ask of an item. */
#ifndef WEFT_EXEC_PASSES_FUSE_STEP_H
#define WEFT_EXEC_PASSES_FUSE_STEP_H

#include "exec/plan.h"
#include "kernels/elementwise/program.h"

/* Returns what the op of an item's node declares; all zero if it declares nothing. */
const fusion *weft__fuse_fusion_of(const plan_item *it);
/* Returns the float type that all arguments of an item have; else WEFT_INVALID.  A GPU's chain computes 16-bit floats
 * in float. */
weft_dtype weft__step_type(const plan_item *it);
/* Returns true if the item updates the variable of input 0, elementwise, by a reference or by its handle. */
bool weft__updates_variable(const plan_item *it);
/* As weft__step_type, of an item that updates a variable. */
weft_dtype weft__update_type(const plan_item *it);
/* The inferred shape of what the item makes, or changes its variable by. */
const shape *weft__step_shape(const plan_item *it);
/* Stores the step that does what the op `o` of this name does, on the item's device.  Returns false if there is none.
 */
bool weft__step_named(const plan_item *it, const char *name, const op *o, int n_in, weft_dtype t, fused_step *s);
/* Stores the step that does what the item does.  Returns false if it does not work element by element. */
bool weft__step_of(const plan_item *it, fused_step *s);
/* Likewise; on the host also if the item is a step of one input because its other one is constant (fusion.given). */
bool weft__step_in(const plan *p, const plan_item *it, fused_step *s);
/* Returns the value of a slot that is known when the plan is compiled, or NULL. */
const weft_tensor *weft__plan_known(const plan *p, int slot);
/* Returns true if an item behind item j and before item `root` may change the variable of `slot`. */
bool weft__fuse_writes_between(const plan *p, int j, const plan_item *root, int slot);
/* Makes the root wait for all that its n members, of which it is one, waited for. */
weft_err weft__fuse_join_controls(plan *p, plan_item *root, int n, const int *member);

#endif
