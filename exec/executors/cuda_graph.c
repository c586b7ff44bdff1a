/* cuda_graph.c - finds, captures and launches GPU segments.
 *
 * While a segment is captured its kernels are enqueued on streams that only this capture uses.  The device records them
 * there and runs none, and other threads can go on enqueueing work.  The graph owns the scratch memory that the kernels
 * allocate meanwhile.
 *
 * When variables move.  The graph contains the addresses of its variables.  weft__variable_assign writes into the
 * buffer that the variable has.  So the variable gets another buffer in two cases only: the assigned value has another
 * size, or another step shared the old value at that moment.  If a variable of the graph has moved, or has another
 * shape, the graph is not launched.  The frame enqueues the kernels one by one as long as the variable is elsewhere.
 * The results are the same; only the time differs.  The segment is not captured again: a program in which a variable
 * moves in every step would capture in every step.  The graph keeps its scratch memory and its variables until the
 * frame is destroyed, launched or not.  A frame that is created later, because this one was in use or the feeds had
 * other shapes, captures its own graph.
 *
 * A frame and its graphs belong to one run at a time.  The locks of the variables are held, in the order of their
 * addresses, from the check that they have not moved until the graph is enqueued.
 *
 * What differs between runs.  A launched graph has the arguments of its capture.  So kernels keep counters of random
 * numbers in GPU memory and read learning rates there (kernels/gpu/gpu.h), and a kernel whose host part decides
 * something in every run is marked no_capture.  A variable that an op gets by its handle counts as written, because the
 * handle does not say whether the op only reads.
 *
 * The order of work.  A device runs what is enqueued in order: each graph is launched on the device's one stream of
 * kernels, and only inside a graph do kernels run side by side (cuda_graph_streams.h).  So a step that reads or assigns
 * the variable later sees what the graph wrote.  That is why the locks end when the graph is enqueued.  One capture
 * runs on a device at a time: capture_begin waits for the other (device/device.h).  An error of a kernel in the graph
 * is reported when a run waits for the device.  It does not say which node failed.  run.c adds the names of the plan's
 * first and last node on that device; with WEFT_GPU_NO_REPLAY=1 the error names the node.
 *
 * If the environment variable WEFT_GPU_NO_REPLAY is set, plans have no segments and nothing is captured ("replay" is an
 * older word for launching a CUDA graph); docs/gpu.md says what else it turns off.  sequential.c does not call
 * weft__cuda_graph_run in a run that is traced, that waits for each kernel (sync_runs: positive by WEFT_GPU_CAREFUL,
 * negative by WEFT_GPU_NO_REPLAY), or that still has to run the OP_ONCE items. */
#include "exec/executors/cuda_graph.h"

#include "base/alloc.h"
#include "exec/executors/cuda_graph_streams.h"
#include "exec/passes/copy_insertion.h"
#include "kernels/gpu/gpu_host.h"
#include "state/variable.h"
#include <stdlib.h>
#include <string.h>

enum {
  MIN_ITEMS = 3,   /* launching fewer items as a graph saves no time */
  MAX_ABORTED = 3, /* captures of a segment that may end without a launch before its frame stops trying */
};

/* ---- finding ----------------------------------------------------------------------------------- */

/* Returns true if the item's outputs are steady: they follow from shapes and constants alone. */
static bool item_steady(const plan_item *it, const bool *steady) {
  if (it->op->flags & OP_SHAPE_ONLY) return true;
  if (it->device || it->n_in == 0 || it->op->opdef.stateful || it->op->flags || weft__is_copy_to_host(it)) return false;
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref || !steady[it->in[j].slot]) return false;
  return true;
}

static void plan_find_steady(const plan *p, bool *steady) {
  for (int i = 0; i < p->n_constant; i++) steady[p->constant_slot[i]] = true;
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    if (!item_steady(it, steady)) continue;
    for (int o = 0; o < it->n_out; o++) steady[it->first_out + o] = true;
  }
}

/* Returns true if the item may be inside a GPU segment of device d (NULL: not known yet). */
static bool item_may_capture(const plan_item *it, const bool *steady, const device *d) {
  if (it->op->flags & OP_ONCE) return true; /* it has run before: capture and launch skip it */
  if (weft__is_copy_wait(it)) return false;
  if (!it->device) return (it->n_in == 0 && it->n_out == 0) || (it->n_out && steady[it->first_out]);
  if ((d && it->device != d) || it->no_capture || weft__is_copy_to_device(it) || !weft__device_can_capture(it->device))
    return false;
  for (int j = 0; j < it->n_in && it->host_in; j++)
    if (it->host_in & weft__gpu_host_bit(it->n_in, j) && !steady[it->in[j].slot] &&
        weft__dtype_is_plain(weft__out_type(it->node->graph, it->node->in[j])))
      return false;
  return true;
}

/* Returns the end of the GPU segment that begins at item i; n counts its items on the device. */
static int segment_end(const plan *p, const bool *steady, int i, device **d, int *n) {
  *n = 0;
  *d = NULL;
  int end = i;
  for (; i < p->n_item && item_may_capture(&p->item[i], steady, *d); i++) {
    if (!p->item[i].device || p->item[i].op->flags & OP_ONCE) continue;
    *d = p->item[i].device;
    end = i + 1;
    ++*n;
  }
  return end;
}

/* Returns true if no run of the plan launches a CUDA graph. */
static bool plan_never_captures(const plan *p) {
  const bool every_run_is_synchronous = p->sync_runs < 0; /* WEFT_GPU_NO_REPLAY */
  return !p->n_device || p->executor == PLAN_DATAFLOW || every_run_is_synchronous;
}

weft_err weft__cuda_graph_find(plan *p) {
  if (plan_never_captures(p)) return WEFT_OK;
  bool *steady = weft__alloc_zero((size_t)p->n_slot + 1, sizeof *steady);
  p->straight.gpu_segment = weft__arena_alloc(&p->arena, sizeof *p->straight.gpu_segment * (size_t)(p->n_item + 1));
  weft_err err = steady && p->straight.gpu_segment ? WEFT_OK : WEFT_OOM;
  if (!err) plan_find_steady(p, steady);
  int i = 0;
  while (!err && i < p->n_item) {
    if (!p->item[i].device || p->item[i].op->flags & OP_ONCE) {
      i++;
      continue;
    }
    device *d;
    int n;
    const int end = segment_end(p, steady, i, &d, &n);
    if (n >= MIN_ITEMS) p->straight.gpu_segment[p->straight.n_gpu_segment++] = (plan_gpu_segment){i, end, d};
    i = end > i ? end : i + 1;
  }
  weft__free(steady);
  return err;
}

/* ---- inputs, outputs and variables of a capture ------------------------------------------------
 *
 * Two fields of a buffer (tensor/tensor.h) tell where a value is.  `memory` is set if it is in GPU memory.  `transient`
 * is set if it is in the arena of its frame, so that it has the same address in every run of the frame. */

typedef struct graph_slot { /* an input from outside the segment, or an output that is read after it */
  int slot;
  weft_tensor t; /* not retained, unless it is owned; empty if the slot has a reference */
  bool owned;    /* t is a copy of a value in host memory: an input's is compared in later runs, an output's is handed
                  * on after a launch */
  variable *ref; /* of an input: the variable that its reference or handle names, which is in cuda_graph.var, too; of an
                  * output: the one that its reference names; NULL: the slot has a value */
} graph_slot;

typedef struct used_variable {
  variable *v; /* retained, so that another variable cannot get its address */
  const void *data;
  shape shape; /* compared too: an assignment of another shape with as many bytes keeps the buffer */
  bool written;
} used_variable;

struct cuda_graph { /* one GPU segment in one frame */
  bool ran_once;    /* weft__cuda_graph_run was called since the last graph_reset: the next call may capture */
  bool never_capture;
  int aborted;             /* captures that ended without a launch, mostly because another step used a variable */
  void *graph;             /* the device's graph; NULL: not captured */
  struct scratch *scratch; /* memory that the captured kernels use */
  graph_slot *in, *out;    /* values from outside the segment; values that are read after it */
  int n_in, n_out;
  used_variable *var; /* sorted by address once the graph is captured */
  int n_var;
};

static void graph_reset(cuda_graph *cg, device *d) {
  d->ops->graph_destroy(d, cg->graph);
  for (int i = 0; i < cg->n_in; i++)
    if (cg->in[i].owned) weft__tensor_clear(&cg->in[i].t);
  for (int i = 0; i < cg->n_out; i++)
    if (cg->out[i].owned) weft__tensor_clear(&cg->out[i].t);
  for (int i = 0; i < cg->n_var; i++) weft__object_release((object *)cg->var[i].v);
  weft__gpu_scratch_release(&cg->scratch);
  weft__free(cg->in);
  weft__free(cg->out);
  weft__free(cg->var);
  *cg = (cuda_graph){.never_capture = cg->never_capture, .aborted = cg->aborted};
}

static void graphs_destroy(frame *f) {
  for (int i = 0; i < f->plan->straight.n_gpu_segment; i++) {
    device *d = f->plan->straight.gpu_segment[i].device;
    if (f->cuda_graph[i].graph) d->ops->sync(d);
    graph_reset(&f->cuda_graph[i], d);
  }
  weft__free(f->cuda_graph);
}

weft_err weft__cuda_graph_create(frame *f) {
  f->cuda_graph = weft__alloc_zero((size_t)f->plan->straight.n_gpu_segment + 1, sizeof *f->cuda_graph);
  f->destroy_cuda_graphs = graphs_destroy;
  return f->cuda_graph ? WEFT_OK : WEFT_OOM;
}

static bool segment_has_item(const plan_gpu_segment *s, int item) { return item >= s->from && item < s->to; }

/* Records a variable, and where its value is now.  Other steps may assign to it at any time, so its lock is taken here
 * as well as for each later check. */
static void graph_add_variable(cuda_graph *cg, variable *v, bool written) {
  for (int i = 0; i < cg->n_var; i++)
    if (cg->var[i].v == v) {
      cg->var[i].written = cg->var[i].written || written;
      return;
    }
  weft__object_retain((object *)v);
  pthread_mutex_lock(&v->lock);
  cg->var[cg->n_var++] = (used_variable){v, v->value.data, v->value.shape, written};
  pthread_mutex_unlock(&v->lock);
}

/* Returns the variable that a slot's reference or handle names; NULL if it has neither. */
static variable *slot_variable(const value *from) {
  resource *r = NULL;
  if (from->ref) return from->ref;
  if (!from->t.buf || from->t.dtype != WEFT_RESOURCE) return NULL;
  return weft__handle_get(&from->t, VARIABLE_TYPE, &r) == WEFT_OK ? (variable *)r : NULL;
}

/* Records a reference or a handle, and its variable.  A reference may have no variable yet, if an item of the segment
 * passes it on: then the variable is recorded with that item's own input. */
static bool graph_note_variable(cuda_graph *cg, const value *from, const plan_input *in, bool from_outside) {
  const bool is_handle = !in->from_ref;
  variable *v = slot_variable(from);
  if (!v) return in->from_ref; /* false: it is a handle of a resource that is not a variable */
  graph_add_variable(cg, v, is_handle || in->wants_ref);
  if (from_outside) cg->in[cg->n_in++] = (graph_slot){in->slot, from->t, false, v};
  return true;
}

/* Records a tensor from outside the segment.  A kernel that reads it in host memory has used its elements when it was
 * captured, so a copy is kept, with which later runs compare theirs.  Ops that only read shapes need none. */
static bool graph_note_tensor(cuda_graph *cg, const value *from, int slot, const plan_item *reader) {
  graph_slot *noted = &cg->in[cg->n_in];
  const bool on_host = !from->t.buf->memory;
  *noted = (graph_slot){slot, from->t, false, NULL};
  if (on_host && weft__dtype_is_plain(from->t.dtype) && !(reader->op->flags & OP_SHAPE_ONLY)) {
    noted->t = (weft_tensor){0};
    if (weft__tensor_clone(&noted->t, &from->t) != WEFT_OK) return false;
    noted->owned = true;
  }
  cg->n_in++;
  return true;
}

/* Records input j or its variable.  Returns false if the input may be at another address in the next run.
 * - Constants never move, and neither do values in the frame's arena.
 * - A value in host memory may move, because its elements are compared instead.
 * - A feed in GPU memory is assumed to stay.  While it is elsewhere, graph_inputs_stayed returns false, and the kernels
 *   are enqueued one by one. */
static bool graph_note_input(cuda_graph *cg, const frame *f, const plan_gpu_segment *s, const plan_item *it, int j) {
  const plan_input *in = &it->in[j];
  const value *from = &f->slot[in->slot];
  const int maker = f->plan->slot_item[in->slot];
  const bool from_outside = !segment_has_item(s, maker);
  if (in->from_ref || (from->t.buf && from->t.dtype == WEFT_RESOURCE))
    return graph_note_variable(cg, from, in, from_outside);
  if (!from_outside) return true;
  if (!from->t.buf || !graph_note_tensor(cg, from, in->slot, it)) return false;
  return maker < 0 || from->t.buf->transient || !from->t.buf->memory;
}

static bool graph_note_inputs(cuda_graph *cg, const frame *f, const plan_gpu_segment *s) {
  bool good = true;
  for (int i = s->from; i < s->to; i++)
    for (int j = 0; j < f->plan->item[i].n_in; j++) good = graph_note_input(cg, f, s, &f->plan->item[i], j) && good;
  return good;
}

/* Marks the slots that are read after the segment. */
static void segment_mark_read_after(const plan *p, const plan_gpu_segment *s, bool *read) {
  for (int i = s->to; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in; j++) read[p->item[i].in[j].slot] = true;
  for (int i = 0; i < p->n_fetch; i++) read[p->fetch_slot[i]] = true;
}

static weft_err graph_make_room(cuda_graph *cg, const frame *f, const plan_gpu_segment *s) {
  size_t in = 1, out = 1;
  for (int i = s->from; i < s->to; i++) {
    in += (size_t)f->plan->item[i].n_in;
    out += (size_t)f->plan->item[i].n_out;
  }
  cg->in = weft__alloc_zero(in, sizeof *cg->in);
  cg->var = weft__alloc_zero(in, sizeof *cg->var);
  cg->out = weft__alloc_zero(out, sizeof *cg->out);
  return cg->in && cg->var && cg->out ? WEFT_OK : WEFT_OOM;
}

/* Records the outputs that are read after the segment.  Outputs in GPU memory must be in the frame's arena, because
 * other memory may belong to another tensor in the next run.  Outputs in host memory are steady, and are copied. */
static bool graph_note_read_outputs(cuda_graph *cg, const frame *f, const plan_gpu_segment *s, const bool *read) {
  for (int i = s->from; i < s->to; i++) {
    const plan_item *it = &f->plan->item[i];
    for (int o = 0; o < it->n_out && !(it->op->flags & OP_ONCE); o++) {
      const int slot = it->first_out + o;
      const value *v = &f->slot[slot];
      if (!read[slot]) continue;
      const bool host = v->t.buf && !v->t.buf->memory;
      if (v->t.buf && !host && !v->t.buf->transient) return false;
      graph_slot *p = &cg->out[cg->n_out];
      *p = (graph_slot){slot, v->t, host, v->ref};
      if (host && weft__tensor_clone(&p->t, &v->t) != WEFT_OK) return false;
      cg->n_out++;
    }
  }
  return true;
}

static bool graph_note_outputs(cuda_graph *cg, const frame *f, const plan_gpu_segment *s) {
  bool *read = weft__alloc_zero((size_t)f->plan->n_slot + 1, sizeof *read);
  if (read) segment_mark_read_after(f->plan, s, read);
  const bool noted = read && graph_note_read_outputs(cg, f, s, read);
  weft__free(read);
  return noted;
}

/* The caller holds the variable's lock. */
static bool variable_stayed(const used_variable *h) {
  return h->v->value.data == h->data && weft__shape_equal(&h->v->value.shape, &h->shape);
}

/* Called while no variable is locked, so a variable may move right after this returned true; graph_launch_locked checks
 * again. */
static bool graph_variables_stayed(const cuda_graph *cg) {
  bool stayed = true;
  for (int i = 0; i < cg->n_var && stayed; i++) {
    pthread_mutex_lock(&cg->var[i].v->lock);
    stayed = variable_stayed(&cg->var[i]);
    pthread_mutex_unlock(&cg->var[i].v->lock);
  }
  return stayed;
}

/* ---- capturing --------------------------------------------------------------------------------- */

/* Returns false if a kernel allocated an output outside the arena and only its slot refers to it: that memory may
 * belong to another tensor in the next run, so the segment cannot be launched again. */
static bool outputs_planned(const frame *f, const plan_item *it) {
  for (int o = 0; o < it->n_out; o++) {
    const weft_tensor *t = &f->slot[it->first_out + o].t;
    if (t->buf && !t->buf->transient && t->buf->memory && weft__buffer_is_unique(t->buf)) return false;
  }
  return true;
}

static weft_err graph_capture_items(cuda_graph *cg, frame *f, plan_run *run, const plan_gpu_segment *s,
                                    graph_streams *streams, bool *good) {
  for (int i = s->from; i < s->to; i++) {
    const plan_item *it = &f->plan->item[i];
    if (it->op->flags & OP_ONCE) continue;
    WEFT_TRY(weft__graph_streams_assign(streams, f, i));
    WEFT_TRY(weft__item_run(f, i, run));
    if (!outputs_planned(f, it)) *good = false;
    weft__gpu_scratch_move(&f->kernel[i].scratch, &cg->scratch);
  }
  return WEFT_OK;
}

/* Keeps the inputs that are not in the frame's arena while the items are captured: an item clears the slot of an input
 * that no later item reads, and graph_restore_frame needs it again if the capture is given up. */
static void graph_hold_inputs(const cuda_graph *cg, bool on) {
  for (int i = 0; i < cg->n_in; i++) {
    buffer *b = cg->in[i].t.buf;
    if (!b || b->transient) continue;
    if (on)
      weft__buffer_retain(b);
    else
      weft__buffer_release(b);
  }
}

/* Restores the frame after a capture that failed; no captured kernel has run. */
static void graph_restore_frame(const cuda_graph *cg, frame *f, const plan_gpu_segment *s) {
  for (int i = s->from; i < s->to; i++)
    for (int o = 0; o < f->plan->item[i].n_out && !(f->plan->item[i].op->flags & OP_ONCE); o++) {
      value *v = &f->slot[f->plan->item[i].first_out + o];
      if (v->t.buf) weft__tensor_clear(&v->t);
      v->ref = NULL;
    }
  for (int i = 0; i < cg->n_in; i++) {
    weft_tensor *t = &f->slot[cg->in[i].slot].t;
    if (!t->buf && cg->in[i].t.buf) weft__tensor_share(t, &cg->in[i].t);
  }
}

static bool graph_variables_ready(const cuda_graph *cg) {
  for (int i = 0; i < cg->n_var; i++) {
    const used_variable *h = &cg->var[i];
    if (!variable_stayed(h) || (h->written && !weft__tensor_writable(&h->v->value))) return false;
  }
  return true;
}

/* Plain locks suffice.  weft__variable_lock would also apply deferred updates, but only items on the CPU defer updates
 * (exec/passes/defer_updates.c), so the variables of a GPU segment have none. */
static void graph_lock_variables(const cuda_graph *cg, bool on) {
  for (int i = 0; i < cg->n_var; i++) {
    if (on)
      pthread_mutex_lock(&cg->var[i].v->lock);
    else
      pthread_mutex_unlock(&cg->var[i].v->lock);
  }
}

static int by_variable_address(const void *a, const void *b) {
  const used_variable *x = a, *y = b;
  return (uintptr_t)x->v < (uintptr_t)y->v ? -1 : (uintptr_t)x->v > (uintptr_t)y->v;
}

/* Launches the graph unless a variable was replaced, or a variable that the graph writes is shared.  *done is true
 * if a launch was tried.  While the locks are held, no other step can replace or share a variable. */
static weft_err graph_launch_locked(cuda_graph *cg, device *d, bool *done) {
  weft_err err = WEFT_OK;
  graph_lock_variables(cg, true);
  *done = graph_variables_ready(cg);
  if (*done) err = d->ops->graph_launch(d, cg->graph);
  graph_lock_variables(cg, false);
  return err;
}

/* Captures the segment and launches it; *done says whether a launch was tried.  If not, the caller runs the items:
 * - If another step reads or replaces a variable meanwhile, a later run tries again, until MAX_ABORTED captures have
 *   ended so.  graph_reset clears ran_once, so the next run captures nothing, and the one after it tries again.
 * - If an item or an input cannot be captured, the segment is never captured again.
 * Fails with *done true if the launch fails, and with *done false if there is no memory to list the inputs, or if the
 * device cannot begin a capture. */
static weft_err graph_capture_and_launch(cuda_graph *cg, frame *f, plan_run *run, const plan_gpu_segment *s,
                                         bool *done) {
  device *d = s->device;
  bool good = true;
  weft_err begun = graph_make_room(cg, f, s);
  if (begun) {
    graph_reset(cg, d);
    return begun;
  }
  if (!graph_note_inputs(cg, f, s)) {
    cg->never_capture = true;
    graph_reset(cg, d);
    return WEFT_OK;
  }
  begun = d->ops->capture_begin(d);
  if (begun) {
    graph_reset(cg, d); /* a later run records the inputs again */
    return begun;
  }
  f->capturing = true;
  graph_streams streams;
  weft__graph_streams_init(&streams);
  graph_hold_inputs(cg, true);
  weft_err err = graph_capture_items(cg, f, run, s, &streams, &good);
  weft__graph_streams_finish(&streams);
  f->capturing = false;
  weft_err ended = d->ops->capture_end(d, &cg->graph);
  const bool captured = !err && !ended && good;
  /* ABORTED: an item needed another buffer for a variable while capturing (variable_may_move in state/variable.c). */
  const bool disturbed = err == WEFT_ABORTED || (captured && !graph_variables_stayed(cg));
  if (captured && !disturbed && graph_note_outputs(cg, f, s)) {
    if (cg->var) qsort(cg->var, (size_t)cg->n_var, sizeof *cg->var, by_variable_address); /* the order of the locks */
    err = graph_launch_locked(cg, d, done);
  } else {
    cg->never_capture = !disturbed;
  }
  if (!*done && ++cg->aborted == MAX_ABORTED) cg->never_capture = true;
  if (!*done) graph_restore_frame(cg, f, s);
  graph_hold_inputs(cg, false);
  if (*done) return err;
  graph_reset(cg, d);
  return WEFT_OK; /* the caller runs the items, which reports a kernel's error again */
}

/* ---- launching --------------------------------------------------------------------------------- */

/* Returns true if each input on the GPU is where it was, each one in host memory has the elements that the captured
 * kernels used, and each reference and handle names the variable that it named. */
static bool graph_inputs_stayed(const cuda_graph *cg, const frame *f) {
  for (int i = 0; i < cg->n_in; i++) {
    if (cg->in[i].ref != slot_variable(&f->slot[cg->in[i].slot])) return false;
    if (cg->in[i].ref) continue;
    const weft_tensor *was = &cg->in[i].t, *now = &f->slot[cg->in[i].slot].t;
    if (!now->buf || was->dtype != now->dtype || !weft__shape_equal(&was->shape, &now->shape)) return false;
    if (now->buf->memory && was->data != now->data) return false;
    if (cg->in[i].owned && memcmp(was->data, now->data, weft__tensor_bytes(was)) != 0) return false;
  }
  return true;
}

/* Launches the graph, if its variables allow it, and sets the slots that items after the segment read. */
static weft_err graph_launch_and_set(cuda_graph *cg, frame *f, const plan_gpu_segment *s, bool *done) {
  const weft_err err = graph_launch_locked(cg, s->device, done);
  for (int i = 0; *done && i < cg->n_out; i++) {
    const graph_slot *p = &cg->out[i];
    if (p->t.buf) weft__tensor_share(&f->slot[p->slot].t, &p->t);
    f->slot[p->slot].ref = p->ref;
  }
  return err;
}

weft_err weft__cuda_graph_run(frame *f, plan_run *run, int gpu_segment, bool *done) {
  cuda_graph *cg = &f->cuda_graph[gpu_segment];
  const plan_gpu_segment *s = &f->plan->straight.gpu_segment[gpu_segment];
  *done = false;
  const bool first = !cg->ran_once;
  cg->ran_once = true;
  if (cg->never_capture || first) return WEFT_OK;
  if (!cg->graph) return graph_capture_and_launch(cg, f, run, s, done);
  if (graph_inputs_stayed(cg, f)) return graph_launch_and_set(cg, f, s, done);
  return WEFT_OK;
}
