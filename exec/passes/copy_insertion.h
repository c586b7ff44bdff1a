/* copy_insertion.h - copy insertion: chooses the kernel of each item on its device, and inserts copies between devices.
 *
 * A value that is read on another device than the one it is made on is copied there, once per value and device.  The
 * copy is an item in front of the first reader.  Constants are copied while the plan is made.  An item that copies to
 * the host only queues the copy; another item, in front of the first reader, waits for it.  What a step sends to other
 * tasks is copied as soon as it is made, and sent when all of its stage is queued.
 *
 * The pass changes a plan that only the compiling thread knows, so it has no lock. */
#ifndef WEFT_EXEC_PASSES_COPY_INSERTION_H
#define WEFT_EXEC_PASSES_COPY_INSERTION_H

#include "exec/plan.h"

/* Gives an item its device and the kernel there; items whose arguments all lie in host memory stay on the host. */
void weft__plan_choose_kernel(plan_item *it, device *d);
/* Inserts the copies, once items, slots and constants are numbered.  Does nothing for plans of the host alone. */
weft_err weft__plan_insert_copies(plan *p);
/* Return true for an item that copies to the host, that copies to a device, or that waits for copies to the host. */
bool weft__is_copy_to_host(const plan_item *it);
bool weft__is_copy_to_device(const plan_item *it);
bool weft__is_copy_wait(const plan_item *it);

#endif
