/* nearest_neighbors.c - NearestNeighbors: the nearest centers of each point, and their distances.
 *
 * Distances are squared and summed in float.  Ties go to the center with the lower index. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "kernels/work/long_work.h"

typedef struct neighbors_work {
  const float *points, *centers;
  int64_t n_centers, width, k;
  int64_t *index; /* both (points, k) */
  float *distance;
  long_work *work;
} neighbors_work;

static float squared_distance(const float *a, const float *b, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/* Inserts a center into the sorted list of the `have` nearest ones, which has room for k.  Returns the new length. */
static int64_t neighbors_insert(const neighbors_work *j, int64_t *index, float *distance, int64_t have, int64_t center,
                                float d) {
  if (have == j->k && !(d < distance[have - 1])) return have;
  int64_t at = have < j->k ? have : have - 1;
  for (; at > 0 && d < distance[at - 1]; at--) {
    distance[at] = distance[at - 1];
    index[at] = index[at - 1];
  }
  distance[at] = d;
  index[at] = center;
  return have < j->k ? have + 1 : have;
}

static void neighbors_points(void *arg, int64_t begin, int64_t end) {
  const neighbors_work *j = arg;
  int64_t spent = 0;
  for (int64_t p = begin; p < end; p++) {
    int64_t have = 0;
    for (int64_t c = 0; c < j->n_centers && !weft__long_work_spent(j->work, &spent, j->width + have); c++)
      have = neighbors_insert(j, j->index + p * j->k, j->distance + p * j->k, have, c,
                              squared_distance(j->points + p * j->width, j->centers + c * j->width, j->width));
  }
}

static weft_err neighbors_check(const kernel *k) {
  const shape *points = &k->in[0]->shape, *centers = &k->in[1]->shape;
  if (points->rank != 2 || centers->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input %s should be a matrix.",
                             points->rank != 2 ? "points" : "centers");
  if (k->in[2]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input k should be a scalar.");
  if (points->dim[1] != centers->dim[1])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected point_dimensions == center_dimensions: %lld vs %lld.",
                             (long long)points->dim[1], (long long)centers->dim[1]);
  if (points->dim[0] == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected points.rows() > 0.");
  if (TENSOR_DATA(k->in[2], int64_t)[0] < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "k must not be negative, but is %lld",
                             (long long)TENSOR_DATA(k->in[2], int64_t)[0]);
  return WEFT_OK;
}

static weft_err neighbors_cpu(kernel *k) {
  WEFT_TRY(neighbors_check(k));
  const int64_t rows = k->in[0]->shape.dim[0], asked = TENSOR_DATA(k->in[2], int64_t)[0];
  long_work work = weft__long_work(k);
  neighbors_work j = {.work = &work,
                      .points = TENSOR_DATA(k->in[0], float),
                      .centers = TENSOR_DATA(k->in[1], float),
                      .n_centers = k->in[1]->shape.dim[0],
                      .width = k->in[0]->shape.dim[1]};
  j.k = asked < j.n_centers ? asked : j.n_centers;
  const shape s = SHAPE2(rows, j.k);
  weft_tensor *index = weft__out(k, 0, &s), *distance = weft__out(k, 1, &s);
  if (!index || !distance) return weft__out_refused(&s);
  if (j.k == 0) return WEFT_OK;
  j.index = TENSOR_DATA(index, int64_t);
  j.distance = TENSOR_DATA(distance, float);
  weft__kernel_loop(k, rows, j.n_centers * (j.width + 4), neighbors_points, &j);
  return weft__long_work_end(&work);
}

#define POINTS "f32[3,2] 0 0 1 1 3 4; f32[4,2] 0 1 1 0 3 3 1 1; "

static const op_case neighbors_cases[] = {
    {POINTS "i64[] 1", "i64[3,1] 0 3 2; f32[3,1] 1 0 1", NULL, 0},
    {POINTS "i64[] 9", "i64[3,4] 0 1 3 2 3 0 1 2 2 3 0 1; f32[3,4] 1 1 2 18 0 1 1 8 1 13 18 20", NULL, 0},
    {"f32[20,5] rand; f32[7,5] rand; i64[] 3", NULL, NULL, 0},
    {POINTS "i64[] 0", "i64[3,0]; f32[3,0]", NULL, 0},
    {"f32[2,2] 1; f32[0,2]; i64[] 2", "i64[2,0]; f32[2,0]", NULL, 0},
    {"f32[0,2]; f32[1,2] 1; i64[] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,2] 1; f32[1,3] 1; i64[] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 1; f32[1,2] 1; i64[] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,2] 1; f32[1,2] 1; i64[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,2] 1; f32[1,2] 1; i64[] -1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY}, /* crashes TensorFlow */
    {0},
};

OPS(nearest_neighbors) = {
    {"NearestNeighbors(points:float, centers:float, k:int64) -> (nearest_center_indices:int64, "
     "nearest_center_distances:float)",
     "The centers that are nearest to each point, and their squared distances.", .infer = weft__infer_none,
     .cpu = neighbors_cpu, .cases = neighbors_cases},
    {0},
};
