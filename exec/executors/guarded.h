/* guarded.h - guard bytes around the values of a plan's arena (base/guard.h); nothing happens while they are off. */
#ifndef WEFT_EXEC_EXECUTORS_GUARDED_H
#define WEFT_EXEC_EXECUTORS_GUARDED_H

#include "graph/kernel.h"

/* Before a kernel runs: writes guard bytes around and over the places of the arena that are planned for its outputs. */
void weft__guard_outputs(const kernel *k);
/* After it ran: checks the guard bytes around those of its outputs that lie in the arena. */
void weft__guard_check_outputs(const kernel *k);

#endif
