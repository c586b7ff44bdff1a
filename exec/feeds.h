/* feeds.h - finds the feed of an output in constant time.
 *
 * The passes look up every edge of the graph, and a request may have thousands of feeds.  The table belongs to its
 * caller and is only read after weft__feeds_init, so there is no lock. */
#ifndef WEFT_EXEC_FEEDS_H
#define WEFT_EXEC_FEEDS_H

#include "exec/plan.h"

typedef struct feeds {
  const weft_out *feed; /* the caller's, which must outlive this */
  int *slot;            /* a hash table of feed numbers + 1; NULL if there are no feeds */
  uint32_t mask;
  int twice; /* the first feed of an output that was fed before; -1 if there is none */
} feeds;     /* {0} has no feeds */

/* Makes the table of n feeds; the caller calls weft__feeds_finish, also after an error.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__feeds_init(feeds *f, int n, const weft_out *feed);
int weft__feeds_find(const feeds *f, weft_out o); /* the first feed of it; -1: it is not fed */
void weft__feeds_finish(feeds *f);

#endif
