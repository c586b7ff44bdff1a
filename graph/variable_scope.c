/* variable_scope.c - variable scopes and the variables made in them. */
#include "base/alloc.h"
#include "graph/scope_stack.h"

void weft__variable_frame_leave(scope *s, void *frame) { (void)s, (void)frame; }

void weft__variable_store_destroy(variable_store *v) { (void)v; }
