/* forest.c - grows one tree of a random forest, as an extremely randomized tree does, from a stream of examples.
 *
 * A leaf that has a slot takes candidate splits from its first examples: a random feature, and the example's value as
 * the threshold.  Then it counts how later examples fall.  After enough of them the split that leaves the least
 * impurity is made: Gini's for classes, the squared error for numbers. */
#include "kernels/training/forest.h"
#include <math.h>
#include <string.h>

static float *node_row(const forest_tree *t, int64_t i) {
  return t->nodes + i * (FOREST_NODE_HEAD + forest_node_sums(t->regression, t->outputs));
}

static int64_t split_width(const forest_tree *t) {
  return FOREST_SPLIT_HEAD + forest_split_sums(t->regression, t->outputs);
}

/* Row `i` of a slot; 0 and 1 are totals and references, the candidates follow. */
static float *split_row(const forest_tree *t, int64_t slot, int64_t i) {
  return t->splits + (slot * (FOREST_SLOT_HEAD + t->n_splits) + i) * split_width(t);
}

static double sums_weight(const forest_tree *t, const float *sums) {
  double weight = sums[0];
  for (int64_t c = 1; !t->regression && c < t->outputs; c++) weight += sums[c];
  return weight;
}

/* The feature or slot in a row of nodes, where 0 stands for none; -1: none. */
static int64_t node_index(const float *row, int column) { return (int64_t)row[column] - 1; }

static bool number_within(float v, int64_t least, int64_t end) {
  return v >= (float)least && v < (float)end && v == floorf(v);
}

bool weft__forest_valid(const forest_tree *t) {
  const int64_t size = t->slots[0];
  if (size < 0 || size > t->max_nodes || t->max_nodes < 1) return false;
  for (int64_t i = 0; i < size || i == 0; i++) { /* the root is there before the tree grows */
    const float *row = node_row(t, i);
    if (!number_within(row[0], 0, t->features + 1) || !number_within(row[3], 0, t->n_slots + 1)) return false;
    if (row[0] > 0 && !number_within(row[2], i + 1, size - 1)) return false; /* children come after: no cycles */
  }
  for (int64_t i = 0; i < t->n_slots; i++) {
    if (t->slots[1 + i] < 0 || t->slots[1 + i] > t->max_nodes) return false;
    if (!t->splits) continue;
    const float *head = split_row(t, i, 0);
    if (!number_within(head[0], 0, t->n_splits + 1)) return false;
    for (int64_t j = 0; j < (int64_t)head[0]; j++)
      if (!number_within(split_row(t, i, FOREST_SLOT_HEAD + j)[0], 0, t->features)) return false;
  }
  return true;
}

/* The nodes may lie in memory that another process writes to, so each index is read once and checked at each step. */
int64_t weft__forest_leaf(const forest_tree *t, const float *x, float least, int64_t *kept) {
  int64_t at = 0;
  *kept = 0;
  for (;;) {
    const float *row = node_row(t, at);
    if (at == 0 || sums_weight(t, row + FOREST_NODE_HEAD) >= least) *kept = at;
    const volatile float *indices = row;
    const float feature = indices[0], child = indices[2];
    if (!number_within(feature, 1, t->features + 1) || !number_within(child, at + 1, t->max_nodes - 1)) return at;
    at = (int64_t)child + (x[(int64_t)feature - 1] <= row[1] ? 0 : 1);
  }
}

void weft__forest_predict(const forest_tree *t, int64_t node, float *out) {
  const float *sums = node_row(t, node) + FOREST_NODE_HEAD;
  const double weight = sums_weight(t, sums);
  for (int64_t c = 0; c < t->outputs; c++) {
    if (t->regression)
      out[c] = weight > 0 ? (float)(sums[1 + c] / weight) : 0;
    else
      out[c] = weight > 0 ? (float)(sums[c] / weight) : 1 / (float)t->outputs;
  }
}

static void node_add(const forest_tree *t, float *sums, const forest_example *e) {
  if (!t->regression) {
    sums[e->label] += e->weight;
    return;
  }
  sums[0] += e->weight;
  for (int64_t c = 0; c < t->outputs; c++) sums[1 + c] += e->weight * e->y[c];
}

static void split_add(const forest_tree *t, float *sums, const forest_example *e, const float *reference) {
  if (!t->regression) {
    sums[e->label] += e->weight;
    return;
  }
  sums[0] += e->weight;
  for (int64_t c = 0; c < t->outputs; c++) {
    const float y = e->y[c] - reference[c];
    sums[1 + 2 * c] += e->weight * y;
    sums[2 + 2 * c] += e->weight * y * y;
  }
}

/* The impurity of the examples in `total` (less those in `less`, if that is not NULL), times their weight. */
static double impurity(const forest_tree *t, const float *total, const float *less, double *weight) {
  double n = sums_weight(t, total) - (less ? sums_weight(t, less) : 0), sum = 0;
  *weight = n;
  if (n <= 0) return 0;
  for (int64_t c = 0; c < t->outputs; c++) {
    if (t->regression) {
      const double s = total[1 + 2 * c] - (less ? less[1 + 2 * c] : 0);
      sum += total[2 + 2 * c] - (less ? less[2 + 2 * c] : 0) - s * s / n;
    } else {
      const double s = total[c] - (less ? less[c] : 0);
      sum -= s * s / n;
    }
  }
  return t->regression ? sum : n + sum;
}

typedef struct choice {
  int64_t split; /* -1: none puts examples on both sides */
  double score, second;
} choice;

static choice split_choose(const forest_tree *t, int64_t slot) {
  choice found = {-1, INFINITY, INFINITY};
  const float *head = split_row(t, slot, 0), *total = head + FOREST_SPLIT_HEAD;
  for (int64_t i = 0; i < (int64_t)head[0]; i++) {
    const float *left = split_row(t, slot, FOREST_SLOT_HEAD + i) + FOREST_SPLIT_HEAD;
    double weight_left = 0, weight_right = 0;
    const double score = impurity(t, left, NULL, &weight_left) + impurity(t, total, left, &weight_right);
    if (weight_left <= 0 || weight_right <= 0) continue;
    if (score < found.score)
      found = (choice){i, score, found.score};
    else if (score < found.second)
      found.second = score;
  }
  return found;
}

static void child_sums(const forest_tree *t, const float *total, const float *less, const float *reference,
                       float *sums) {
  const int64_t n = forest_node_sums(t->regression, t->outputs);
  for (int64_t c = 0; c < n; c++) {
    const int64_t from = t->regression && c > 0 ? 2 * c - 1 : c;
    sums[c] = total[from] - (less ? less[from] : 0);
  }
  for (int64_t c = 1; t->regression && c < n; c++) sums[c] += sums[0] * reference[c - 1];
}

static void slot_release(forest_tree *t, float *row) {
  t->slots[1 + node_index(row, 3)] = 0;
  row[3] = 0;
}

static void node_split(forest_tree *t, int64_t node, int64_t slot, int64_t split) {
  float *row = node_row(t, node);
  const float *best = split_row(t, slot, FOREST_SLOT_HEAD + split), *total = split_row(t, slot, 0) + FOREST_SPLIT_HEAD;
  const float *reference = split_row(t, slot, 1) + FOREST_SPLIT_HEAD, *left = best + FOREST_SPLIT_HEAD;
  const int64_t child = t->slots[0];
  t->slots[0] += 2;
  row[0] = best[0] + 1, row[1] = best[1], row[2] = (float)child;
  for (int64_t i = 0; i < 2; i++) {
    float *made = node_row(t, child + i);
    memset(made, 0, FOREST_NODE_HEAD * sizeof *made);
    child_sums(t, i ? total : left, i ? left : NULL, reference, made + FOREST_NODE_HEAD);
  }
  slot_release(t, row);
}

/* Gives a leaf a slot if one is free and there is room for two nodes more. */
static void slot_take(forest_tree *t, int64_t node, float *row, const forest_example *e) {
  int64_t slot = 0;
  if (t->slots[0] + 2 > t->max_nodes) return;
  while (slot < t->n_slots && t->slots[1 + slot] != 0) slot++;
  if (slot == t->n_slots) return;
  t->slots[1 + slot] = (int32_t)node + 1;
  row[3] = (float)(slot + 1);
  memset(split_row(t, slot, 0), 0, (size_t)((FOREST_SLOT_HEAD + t->n_splits) * split_width(t)) * sizeof(float));
  float *reference = split_row(t, slot, 1) + FOREST_SPLIT_HEAD;
  for (int64_t c = 0; t->regression && c < t->outputs; c++) reference[c] = e->y[c];
}

/* Returns true if the split is due: enough examples, or the best candidate is better than the second with confidence.
 */
static bool split_due(const forest_tree *t, double before, double weight, const choice *c) {
  if (weight >= t->split_after) return true;
  if (t->early_bound <= 0 || t->check_every <= 0 || c->split < 0 || isinf(c->second)) return false;
  if (floor(before / t->check_every) >= floor(weight / t->check_every)) return false;
  return (c->second - c->score) / weight > sqrt(t->early_bound / (2 * weight));
}

void weft__forest_add(forest_tree *t, const forest_example *e) {
  if (t->slots[0] == 0) t->slots[0] = 1;
  int64_t kept = 0;
  const int64_t node = weft__forest_leaf(t, e->x, 0, &kept);
  float *row = node_row(t, node);
  node_add(t, row + FOREST_NODE_HEAD, e);
  if (node_index(row, 3) < 0) slot_take(t, node, row, e);
  const int64_t slot = node_index(row, 3);
  if (slot < 0) return;
  float *head = split_row(t, slot, 0), *total = head + FOREST_SPLIT_HEAD;
  const float *reference = split_row(t, slot, 1) + FOREST_SPLIT_HEAD;
  if ((int64_t)head[0] < t->n_splits) { /* the first examples only make candidates */
    float *made = split_row(t, slot, FOREST_SLOT_HEAD + (int64_t)head[0]);
    made[0] = (float)e->drawn, made[1] = e->x[e->drawn];
    head[0] += 1;
    return;
  }
  const double before = sums_weight(t, total);
  split_add(t, total, e, reference);
  for (int64_t i = 0; i < t->n_splits; i++) {
    float *split = split_row(t, slot, FOREST_SLOT_HEAD + i);
    if (e->x[(int64_t)split[0]] <= split[1]) split_add(t, split + FOREST_SPLIT_HEAD, e, reference);
  }
  const double weight = sums_weight(t, total);
  if (weight < t->split_after && t->early_bound <= 0) return;
  const choice best = split_choose(t, slot);
  if (!split_due(t, before, weight, &best)) return;
  double all = 0;
  if (t->slots[0] + 2 > t->max_nodes || best.split < 0)
    slot_release(t, row); /* the next example starts with new candidates */
  else if (impurity(t, total, NULL, &all) <= 1e-9 * all)
    slot_release(t, row);
  else
    node_split(t, node, slot, best.split);
}
