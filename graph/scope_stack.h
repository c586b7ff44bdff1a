/* scope_stack.h - the stack behind scope.h and variable_scope.h; for those two only.
 *
 * Include cycle with graph/scope: this header is its private part, and needs the types of its public one. */
#ifndef WEFT_GRAPH_SCOPE_STACK_H
#define WEFT_GRAPH_SCOPE_STACK_H

#include "graph/scope.h"

typedef struct variable_store variable_store; /* variable_scope.c */

typedef enum scope_kind {
  SCOPE_NAME,
  SCOPE_DEVICE,
  SCOPE_CONTROL,
  SCOPE_COLOCATE,
  SCOPE_CLASS,
  SCOPE_CONTAINER,
  SCOPE_GRADIENT,
  SCOPE_VARIABLE
} scope_kind;

typedef struct scope_entry {
  scope_kind kind;
  bool clear;    /* device, control, colocate: outer scopes do not apply */
  char *text;    /* owned: prefix, device, node, container, or "op=gradient" */
  device_fn *fn; /* device */
  void *arg;     /* device: for fn; variable: a variable_frame */
  int n_id, *id; /* control: owned node ids */
  int node;      /* colocate: node id or -1; control: the first node made inside */
  int below;     /* variable: how many entries below it belong to it */
} scope_entry;

/* Nodes [begin, end) were made under control_dependencies(None), so outer control scopes do not apply to them. */
typedef struct scope_gap {
  int begin, end;
} scope_gap;

struct scope {
  scope_entry *entry;
  int n;
  int64_t capacity;
  scope_gap *gap; /* disjoint, ascending */
  int n_gap;
  int64_t cap_gap;
  int *mark, cap_mark; /* per node id: the number of the last search (`asked`) that marked it */
  int asked;
  int n_name; /* number of names taken so far */
  bool seed_by_nodes;
  variable_store *variables; /* created when first needed */
};

/* Takes ownership of the entry's memory, also on failure. */
weft_err weft__scope_push(scope *s, scope_entry e);
const scope_entry *weft__scope_top(const scope *s, scope_kind kind); /* NULL if none */
/* Reserves room for one gap more than the scopes on the stack may need. */
weft_err weft__scope_reserve_gap(scope *s);
/* Copies the counts of opened variable scope names, which the caller frees; and restores them. */
weft_err weft__variable_counts_save(weft_graph *g, int **count, int *n);
void weft__variable_counts_set(weft_graph *g, const int *count, int n);
/* Undoes the variable part of a scope. */
void weft__variable_frame_leave(scope *s, void *frame);
void weft__variable_store_destroy(variable_store *v);

#endif
