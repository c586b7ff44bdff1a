/* spread.h - a plan over several devices: which kernel runs an item where, and the copies between.
 *
 * A value that is read on a device other than the one it is made on gets a copy there, an item of its own in front
 * of the first reader, once per value and device.  Constants are copied while the plan is made. */
#ifndef WEFT_EXEC_SPREAD_H
#define WEFT_EXEC_SPREAD_H

#include "exec/plan.h"

/* Gives an item its device and the kernel there; items whose arguments all lie in host memory stay on the host. */
void weft__spread_choose(plan_item *it, device *d);
/* Puts the copies in, once items, slots and constants are numbered.  Nothing to do for plans of the host alone. */
weft_err weft__spread(plan *p);
/* Is it a copy to the host? */
bool weft__spread_is_out(const plan_item *it);

#endif
