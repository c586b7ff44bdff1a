/* choice.h - options that are yes, no or the default. */
#ifndef WEFT_BASE_CHOICE_H
#define WEFT_BASE_CHOICE_H

#include "weft/core.h"

/* Returns the value of an option whose default is yes. */
static inline bool weft__choice_yes(weft_choice c) { return c != WEFT_NO; }

#endif
