/* copy_insertion.h - a plan over several devices: which kernel runs an item where, and the copies between.
 *
 * A value that is read on a device other than the one it is made on gets a copy there, an item of its own in front
 * of the first reader, once per value and device.  Constants are copied while the plan is made.  A copy to the host is
 * only queued by its item; another one, in front of the first reader, waits for it.  What a step sends to other tasks is
 * copied as soon as it is made and sent when all of its stage is queued. */
#ifndef WEFT_EXEC_PASSES_COPY_INSERTION_H
#define WEFT_EXEC_PASSES_COPY_INSERTION_H

#include "exec/plan.h"

/* Gives an item its device and the kernel there; items whose arguments all lie in host memory stay on the host. */
void weft__choose_kernel(plan_item *it, device *d);
/* Puts the copies in, once items, slots and constants are numbered.  Nothing to do for plans of the host alone. */
weft_err weft__insert_copies(plan *p);
/* Is it a copy to the host?  To a device?  Does it wait for copies to the host? */
bool weft__is_copy_to_host(const plan_item *it);
bool weft__is_copy_to_device(const plan_item *it);
bool weft__is_copy_wait(const plan_item *it);

#endif
