/* min_degree.c - the graph of a matrix while its rows are eliminated.
 *
 * The rows that are left are connected by edges and by cliques.  A row that is eliminated becomes a clique of its
 * neighbors, which replaces the cliques that it was in.  A row's cliques and edges together are never more than the
 * edges that it had at first, so they stay in the room of those. */
#include "kernels/sparse/min_degree.h"

#include "base/alloc.h"
#include "base/assert.h"

enum { ROW_WORK = 64 }; /* of long_work, to update a row: about the cliques that it is in */

typedef struct clique {
  int32_t *row; /* NULL: none, or one that was replaced */
  int32_t n;
  int64_t outside; /* how many of its rows are not in the newest clique, plus the mark of that one */
} clique;

typedef struct elimination {
  int32_t n, left;  /* rows, and rows that are left */
  int64_t *start;   /* of each row's room in `link` */
  int32_t *link;    /* of each row: the cliques that it is in, then its neighbors by an edge */
  int32_t *cliques; /* numbers of those */
  int32_t *edges;
  int32_t *degree;
  int32_t *first, *next, *before; /* lists of the rows with a degree; -1: none */
  bool *gone;
  int64_t *seen; /* of each row: the newest mark that it was given */
  clique *made;  /* by the row that it was made of */
  int32_t *kept; /* room for the links of a row */
  int32_t least; /* no list below it has a row */
  int64_t mark;  /* above every mark that is in use */
} elimination;

/* ---- the graph ---- */

static void elimination_finish(elimination *g) {
  for (int32_t i = 0; g->made && i < g->n; i++) weft__free(g->made[i].row);
  void *const held[] = {g->start, g->link,   g->cliques, g->edges, g->degree, g->first,
                        g->next,  g->before, g->gone,    g->seen,  g->made,   g->kept};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) weft__free(held[i]);
}

/* Calls for each element left of the diagonal: counts it for both rows, or links them. */
static void link_rows(elimination *g, const int32_t *rows, const int32_t *cols, bool count) {
  WEFT_ASSERT(rows[0] == 0);
  for (int32_t r = 0; r < g->n; r++)
    for (int32_t i = rows[r]; i < rows[r + 1]; i++) {
      const int32_t c = cols[i];
      if (c >= r) continue;
      if (count) {
        g->start[r + 1]++;
        g->start[c + 1]++;
      } else {
        g->link[g->start[r] + g->edges[r]++] = c;
        g->link[g->start[c] + g->edges[c]++] = r;
      }
    }
}

/* Removes links that occur more than once. */
static void drop_repeated(elimination *g) {
  for (int32_t r = 0; r < g->n; r++) {
    int32_t *link = g->link + g->start[r], kept = 0;
    for (int32_t i = 0; i < g->edges[r]; i++) {
      if (g->seen[link[i]] == r + 1) continue;
      g->seen[link[i]] = r + 1;
      link[kept++] = link[i];
    }
    g->edges[r] = kept;
  }
  g->mark = (int64_t)g->n + 1;
}

static void degree_add(elimination *g, int32_t r) {
  WEFT_ASSERT(r >= 0 && r < g->n && g->degree[r] >= 0 && g->degree[r] <= g->n);
  const int32_t d = g->degree[r], head = g->first[d];
  g->before[r] = -1;
  g->next[r] = head;
  if (head >= 0) g->before[head] = r;
  g->first[d] = r;
  if (d < g->least) g->least = d;
}

static void degree_remove(elimination *g, int32_t r) {
  if (g->before[r] >= 0)
    g->next[g->before[r]] = g->next[r];
  else
    g->first[g->degree[r]] = g->next[r];
  if (g->next[r] >= 0) g->before[g->next[r]] = g->before[r];
}

static weft_err elimination_init(elimination *g, const int32_t *rows, const int32_t *cols) {
  const size_t n = (size_t)g->n + 1;
  g->start = weft__alloc_zero(n, sizeof *g->start);
  g->cliques = weft__alloc_zero(n, sizeof *g->cliques);
  g->edges = weft__alloc_zero(n, sizeof *g->edges);
  g->degree = weft__alloc_zero(n, sizeof *g->degree);
  g->first = weft__alloc_zero(n, sizeof *g->first);
  g->next = weft__alloc_zero(n, sizeof *g->next);
  g->before = weft__alloc_zero(n, sizeof *g->before);
  g->gone = weft__alloc_zero(n, sizeof *g->gone);
  g->seen = weft__alloc_zero(n, sizeof *g->seen);
  g->made = weft__alloc_zero(n, sizeof *g->made);
  if (!g->start || !g->cliques || !g->edges || !g->degree || !g->first || !g->next || !g->before || !g->gone ||
      !g->seen || !g->made)
    return WEFT_OOM;
  link_rows(g, rows, cols, true);
  int64_t most = 0;
  for (int32_t r = 0; r < g->n; r++) {
    if (g->start[r + 1] > most) most = g->start[r + 1];
    g->start[r + 1] += g->start[r];
  }
  g->link = weft__alloc_zero((size_t)g->start[g->n] + 1, sizeof *g->link);
  g->kept = weft__alloc_zero((size_t)most + 1, sizeof *g->kept);
  if (!g->link || !g->kept) return WEFT_OOM;
  link_rows(g, rows, cols, false);
  drop_repeated(g);
  for (int32_t d = 0; d <= g->n; d++) g->first[d] = -1;
  for (int32_t r = g->n - 1; r >= 0; r--) {
    g->degree[r] = g->edges[r];
    degree_add(g, r);
  }
  return WEFT_OK;
}

/* ---- eliminating a row ---- */

static int32_t find_least(elimination *g) {
  while (g->first[g->least] < 0) g->least++;
  WEFT_ASSERT(g->least < g->n && !g->gone[g->first[g->least]]);
  return g->first[g->least];
}

static void clique_drop(elimination *g, int32_t e) {
  WEFT_ASSERT(e >= 0 && e < g->n);
  weft__free(g->made[e].row);
  g->made[e].row = NULL;
}

/* Adds the rows to the clique that are not in it yet. */
static void clique_add(elimination *g, clique *made, const int32_t *row, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    if (g->gone[row[i]] || g->seen[row[i]] == g->mark) continue;
    g->seen[row[i]] = g->mark;
    made->row[made->n++] = row[i];
    WEFT_ASSERT(made->n <= g->left);
  }
}

/* Makes a clique of the neighbors of p.  It replaces the cliques that p is in. */
static weft_err clique_make(elimination *g, int32_t p) {
  WEFT_ASSERT(g->gone[p] && !g->made[p].row);
  const int32_t *link = g->link + g->start[p];
  clique *made = &g->made[p];
  int64_t most = g->edges[p];
  for (int32_t i = 0; i < g->cliques[p]; i++) most += g->made[link[i]].n;
  if (most > g->left) most = g->left;
  made->row = weft__alloc_zero((size_t)most + 1, sizeof *made->row);
  if (!made->row) return WEFT_OOM;
  g->mark++;
  for (int32_t i = 0; i < g->cliques[p]; i++) clique_add(g, made, g->made[link[i]].row, g->made[link[i]].n);
  clique_add(g, made, link + g->cliques[p], g->edges[p]);
  for (int32_t i = 0; i < g->cliques[p]; i++) clique_drop(g, link[i]);
  return WEFT_OK;
}

/* Counts for each clique that shares rows with the newest one, how many of its rows are not in that one. */
static void count_outside(elimination *g, const clique *newest) {
  for (int32_t i = 0; i < newest->n; i++) {
    const int32_t *link = g->link + g->start[newest->row[i]];
    for (int32_t j = 0; j < g->cliques[newest->row[i]]; j++) {
      clique *e = &g->made[link[j]];
      if (!e->row) continue;
      if (e->outside < g->mark) e->outside = e->n + g->mark;
      e->outside--;
      WEFT_ASSERT(e->outside >= g->mark);
    }
  }
}

/* Makes the links of row r what they are after the elimination of p, and bounds its degree. */
static void row_update(elimination *g, int32_t r, int32_t p) {
  WEFT_ASSERT(!g->gone[r] && g->made[p].n > 0);
  int32_t *link = g->link + g->start[r], kept = 0, cliques = 0;
  int64_t bound = g->made[p].n - 1;
  for (int32_t i = 0; i < g->cliques[r]; i++) {
    const clique *e = &g->made[link[i]];
    if (e->row && e->outside == g->mark) clique_drop(g, link[i]); /* all of it is in the newest one */
    if (!e->row) continue;
    bound += e->outside - g->mark;
    g->kept[kept++] = link[i];
  }
  g->kept[kept++] = p;
  cliques = kept;
  for (int32_t i = g->cliques[r]; i < g->cliques[r] + g->edges[r]; i++) {
    if (g->gone[link[i]] || g->seen[link[i]] == g->mark) continue; /* the clique says that they are neighbors */
    bound++;
    g->kept[kept++] = link[i];
  }
  for (int32_t i = 0; i < kept; i++) link[i] = g->kept[i];
  g->cliques[r] = cliques;
  WEFT_ASSERT(g->start[r] + kept <= g->start[r + 1]); /* they fit into the room of its first links */
  g->edges[r] = kept - cliques;
  if (bound > (int64_t)g->degree[r] + g->made[p].n - 1) bound = (int64_t)g->degree[r] + g->made[p].n - 1;
  if (bound > g->left - 1) bound = g->left - 1;
  g->degree[r] = (int32_t)bound; /* fits: below left */
  WEFT_ASSERT(bound >= 0 && bound < g->left);
}

static weft_err eliminate(elimination *g, int32_t p) {
  degree_remove(g, p);
  g->gone[p] = true;
  g->left--;
  WEFT_TRY(clique_make(g, p));
  const clique *newest = &g->made[p];
  count_outside(g, newest);
  for (int32_t i = newest->n - 1; i >= 0; i--) {
    degree_remove(g, newest->row[i]);
    row_update(g, newest->row[i], p);
    degree_add(g, newest->row[i]);
  }
  g->mark += (int64_t)g->n + 1; /* above all of outside */
  if (!newest->n) clique_drop(g, p);
  return WEFT_OK;
}

weft_err weft__min_degree(long_work *work, int32_t n, const int32_t *rows, const int32_t *cols, int32_t *order) {
  elimination g = {.n = n, .left = n};
  weft_err err = elimination_init(&g, rows, cols);
  int64_t spent = 0;
  for (int32_t i = 0; i < n && !err; i++) {
    order[i] = find_least(&g);
    err = eliminate(&g, order[i]);
    if (weft__long_work_spent(work, &spent, (int64_t)ROW_WORK * (g.made[order[i]].n + 1)))
      err = weft__long_work_end(work);
  }
  elimination_finish(&g);
  return err;
}
