/* list.h - an intrusive doubly linked list.
 *
 * A struct that is to be listed has a list_link as a member, so that listing it allocates nothing and cannot fail, and
 * removing it takes constant time.  The list is a ring through its own head: neither end is a special case.  A link of
 * all zeros is in no list, and a removed link is set back to that.
 *
 * The list owns nothing.  An element must be removed before its memory is freed.  Not thread safe: the owner of the
 * list guards it, and guards the links of its elements too, since neighbors change them. */
#ifndef WEFT_BASE_LIST_H
#define WEFT_BASE_LIST_H

#include "base/assert.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct list_link {
  struct list_link *next, *prev; /* both NULL: in no list */
} list_link;

typedef struct linked_list { /* not {0}: weft__list_init, or WEFT_LIST_INIT for a static one */
  list_link head;
} linked_list;

#define WEFT_LIST_INIT(name)                                                                                           \
  {                                                                                                                    \
    { &(name).head, &(name).head }                                                                                     \
  }
/* The struct of that type whose member is the link. */
#define WEFT_LIST_ITEM(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))
/* Visits each link from the first to the last.  The body must not remove the link that it visits. */
#define WEFT_LIST_FOR_EACH(link, list)                                                                                 \
  for (list_link *link = (list)->head.next; link != &(list)->head; link = link->next)

static inline void weft__list_init(linked_list *l) { l->head.next = l->head.prev = &l->head; }
static inline bool weft__list_is_empty(const linked_list *l) { return l->head.next == &l->head; }
static inline bool weft__list_is_linked(const list_link *k) { return k->next != NULL; }
/* The first and the last link; NULL if the list is empty. */
static inline list_link *weft__list_first(const linked_list *l) { return weft__list_is_empty(l) ? NULL : l->head.next; }
static inline list_link *weft__list_last(const linked_list *l) { return weft__list_is_empty(l) ? NULL : l->head.prev; }

/* Inserts k, which is in no list, behind `before`: a link of a list, or &l->head for the front of l. */
static inline void weft__list_insert_after(list_link *before, list_link *k) {
  WEFT_ASSERT(!weft__list_is_linked(k));
  WEFT_ASSERT(before->next && before->next->prev == before);
  k->prev = before;
  k->next = before->next;
  k->prev->next = k->next->prev = k;
}
static inline void weft__list_prepend(linked_list *l, list_link *k) { weft__list_insert_after(&l->head, k); }
static inline void weft__list_append(linked_list *l, list_link *k) { weft__list_insert_after(l->head.prev, k); }

/* Removes k, which is in a list. */
static inline void weft__list_remove(list_link *k) {
  WEFT_ASSERT(weft__list_is_linked(k));
  WEFT_ASSERT(k->prev->next == k && k->next->prev == k);
  k->prev->next = k->next;
  k->next->prev = k->prev;
  k->next = k->prev = NULL;
}

#endif
