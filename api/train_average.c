/* train_average.c - the public functions of moving averages. */
#include "api/argument.h"
#include "base/alloc.h"
#include "train/model/average.h"
#include "weft/train.h"
#include <string.h>

weft_err weft_average_create(weft_average **out, weft_graph *g, const char *name, double decay, weft_out updates,
                             bool zero_debias) {
  API_NEED(out);
  API_NEED(g);

  *out = NULL;
  if (updates.node >= 0 && !weft__named_given(g, "average", 1, &updates)) return weft__b_ok(g);
  return weft__average_create(out, g, decay, updates, zero_debias, name);
}

void weft_average_destroy(weft_average *a) { weft__average_destroy(a); }

weft_out weft_average_apply(weft_average *a, int n, const weft_out *values) {
  API_NEED_OUT(NULL, a);
  API_ARRAY_OUT(a->g, n, values);
  API_ALL_OF_OUT(a->g, n, values);

  if (n > 0) return weft__named_given(a->g, "average", n, values) ? weft__average_apply(a, n, values) : WEFT_NONE;
  n = weft__variables_in(a->g, "trainable_variables", NULL, 0);
  weft_out *all = weft__alloc(((size_t)n + 1) * sizeof *all), o = WEFT_NONE;
  if (all) {
    weft__variables_in(a->g, "trainable_variables", all, n);
    o = weft__average_apply(a, n, all);
  } else {
    weft__named_keep(a->g, WEFT_OOM);
  }
  weft__free(all);
  return o;
}

weft_out weft_average_of(const weft_average *a, weft_out value) {
  API_NEED_OUT(NULL, a);
  if (weft__argument_graph(__func__, "value", a->g, 1, &value)) return WEFT_NONE;
  return weft__average_of(a, value);
}

const char *weft_average_name(weft_average *a, weft_out value) {
  API_NEED_OR(a, NULL);

  const char *name;
  return weft__average_name(a, value, &name) == WEFT_OK ? name : NULL;
}

/* Returns true for trainable and averaged variables.  They are restored from their averages, the others from
 * themselves. */
static bool goes_by_average(const weft_graph *g, weft_out v) {
  return weft__variable_listed(g, "trainable_variables", v) || weft__variable_listed(g, "moving_average_variables", v);
}

static bool name_is_among(const char *name, int n, const char *const *names) {
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* Lists first the variables that have an average's name, then those whose names are still free. */
static int put_names(weft_average *a, int n, const weft_out *all, weft_out *variables, const char **names) {
  int used = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < n; i++) {
      bool average = goes_by_average(a->g, all[i]);
      const char *name = average ? weft_average_name(a, all[i]) : weft__variable_name(a->g, all[i]);
      if (average == (pass == 1) || !name || name_is_among(name, used, names)) continue;
      variables[used] = all[i];
      names[used++] = name;
    }
  return used;
}

int weft_average_to_restore(weft_average *a, weft_out *variables, const char **names, int room) {
  API_NEED_OR(a, 0);
  API_NEED_OR(variables, 0);
  API_NEED_OR(names, 0);

  int n = weft__variables_in(a->g, "variables", NULL, 0), used = 0;
  size_t size = (size_t)n + 1;
  weft_out *all = weft__alloc(size * sizeof *all), *found = weft__alloc(size * sizeof *found);
  const char **by = weft__alloc(size * sizeof *by);
  if (all && found && by) {
    weft__variables_in(a->g, "variables", all, n);
    used = put_names(a, n, all, found, by);
    for (int i = 0; i < used && i < room; i++) {
      variables[i] = found[i];
      names[i] = by[i];
    }
  }
  weft__free(all);
  weft__free(found);
  weft__free(by);
  return used;
}
