/* report.c - collects the state of a task from its components and from the metrics of the process.
 *
 * It keeps nothing and has no lock of its own.  The report belongs to the caller's arena. */
#include "cluster/status/report.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/text.h"
#include "state/variable.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES_MAX = 1000, WAITS_MAX = 32, WAIT_MIN_S = 1 };

/* ---- the process ---- */

static uint64_t report_resident_bytes(void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static weft_err report_add_errors(Weft__TaskReport *out, arena *a, const metrics_snapshot *p) {
  Weft__ErrorReport *one = weft__arena_alloc(a, sizeof *one * METRICS_ERRORS);
  out->error = weft__arena_alloc(a, sizeof *out->error * METRICS_ERRORS);
  if (!one || !out->error) return WEFT_OOM;
  for (int i = 0; i < p->n_error; i++) {
    weft__error_report__init(&one[i]);
    one[i].at_us = p->error[i].at_us;
    one[i].text = weft__arena_strdup(a, p->error[i].text);
    one[i].component = weft__arena_strdup(a, p->error[i].component);
    if (!one[i].text || !one[i].component) return WEFT_OOM;
    out->error[out->n_error++] = &one[i];
  }
  return WEFT_OK;
}

static weft_err report_add_samples(Weft__TaskReport *out, arena *a, const metrics_snapshot *p) {
  Weft__SampleReport *one = weft__arena_alloc(a, sizeof *one * METRICS_SAMPLES);
  out->sample = weft__arena_alloc(a, sizeof *out->sample * METRICS_SAMPLES);
  if (!one || !out->sample) return WEFT_OOM;
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < p->n_sample; i++) {
    const metrics_sample *s = &p->sample[i];
    weft__sample_report__init(&one[i]);
    one[i].at_us = out->now_us - (now - s->at_ns) / 1000;
    one[i].runs = s->count[METRICS_SESSION_RUNS];
    one[i].parts = s->count[METRICS_PARTITION_RUNS];
    one[i].bytes_in = s->count[METRICS_BYTES_IN];
    one[i].bytes_out = s->count[METRICS_BYTES_OUT];
    one[i].step = s->step;
    one[i].loss = s->loss;
    out->sample[out->n_sample++] = &one[i];
  }
  return WEFT_OK;
}

static weft_err report_add_process(Weft__TaskReport *out, arena *a, bool brief) {
  metrics_snapshot *p = weft__arena_alloc(a, sizeof *p);
  char host[256] = "";
  if (!p) return WEFT_OOM;
  weft__metrics_read(p);
  gethostname(host, sizeof host - 1);
  out->now_us = weft__clock_wall_us();
  out->uptime = p->begun_ns ? (double)(weft__clock_now_ns() - p->begun_ns) * 1e-9 : 0;
  out->pid = (int32_t)getpid();
  out->runs = p->count[METRICS_SESSION_RUNS], out->runs_rate = p->rate[METRICS_SESSION_RUNS];
  out->parts = p->count[METRICS_PARTITION_RUNS], out->parts_rate = p->rate[METRICS_PARTITION_RUNS];
  out->bytes_in = p->count[METRICS_BYTES_IN], out->in_rate = p->rate[METRICS_BYTES_IN];
  out->bytes_out = p->count[METRICS_BYTES_OUT], out->out_rate = p->rate[METRICS_BYTES_OUT];
  out->resident = report_resident_bytes();
  out->global_step = p->step;
  out->loss = p->loss;
  out->checkpoint_us = p->saved_us;
  out->host = weft__arena_strdup(a, host);
  out->checkpoint = weft__arena_strdup(a, p->saved);
  if (!out->host || !out->checkpoint) return WEFT_OOM;
  WEFT_TRY(report_add_errors(out, a, p));
  return brief ? WEFT_OK : report_add_samples(out, a, p);
}

/* ---- variables ---- */

typedef struct report_listing {
  Weft__TaskReport *out;
  arena *a;
  bool brief;
} report_listing;

static char *report_shape_text(arena *a, const shape *s) {
  text t = {0};
  weft__text_puts(&t, "[");
  for (int i = 0; i < s->rank; i++) weft__text_printf(&t, "%s%lld", i ? "," : "", (long long)s->dim[i]);
  weft__text_puts(&t, s->rank < 0 ? "?]" : "]");
  char *copy = weft__arena_strdup(a, weft__text_get(&t));
  weft__text_finish(&t);
  return copy;
}

static void report_note_global_step(Weft__TaskReport *out, const char *name, variable *v) {
  weft_tensor t = {0};
  if (strcmp(name, "global_step") != 0 || weft__variable_read(v, &t) != WEFT_OK) return;
  if (t.dtype == WEFT_INT64 && t.shape.rank == 0) out->global_step = *TENSOR_DATA(&t, int64_t);
  if (t.dtype == WEFT_INT32 && t.shape.rank == 0) out->global_step = *TENSOR_DATA(&t, int32_t);
  weft__tensor_clear(&t);
}

static void report_list_variable(void *arg, const char *name, resource *found) {
  report_listing *l = arg;
  variable *v = (variable *)found;
  shape now;
  Weft__VariableReport *one = weft__arena_alloc(l->a, sizeof *one);
  if (!one) return;
  weft__variable_report__init(one);
  const bool has = weft__variable_value_shape(v, &now); /* not its value: reading one may cost a pass over it */
  one->bytes = has ? (uint64_t)weft__shape_count(&now) * weft__dtype_size(v->dtype) : 0;
  l->out->variables++;
  l->out->variable_bytes += one->bytes;
  if (has) report_note_global_step(l->out, name, v);
  if (!l->brief && l->out->n_variable < VARIABLES_MAX) {
    one->name = weft__arena_strdup(l->a, name);
    one->type = weft__arena_strdup(l->a, weft__dtype_name(v->dtype));
    one->shape = report_shape_text(l->a, has ? &now : &v->declared);
    if (one->name && one->type && one->shape) l->out->variable[l->out->n_variable++] = one;
  }
}

static int report_compare_size(const void *x, const void *y) {
  const Weft__VariableReport *a = *(Weft__VariableReport *const *)x, *b = *(Weft__VariableReport *const *)y;
  return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : strcmp(a->name, b->name);
}

static weft_err report_add_variables(Weft__TaskReport *out, arena *a, resources *r, bool brief) {
  report_listing l = {out, a, brief};
  out->variable = weft__arena_alloc(a, sizeof *out->variable * VARIABLES_MAX);
  if (!out->variable) return WEFT_OOM;
  WEFT_TRY(weft__resources_each(r, VARIABLE_TYPE, report_list_variable, &l));
  qsort((void *)out->variable, out->n_variable, sizeof *out->variable, report_compare_size);
  return WEFT_OK;
}

/* ---- waits ---- */

/* Replaces every "/job:ps/replica:0/task:0" by "ps:0". */
static void report_shorten_names(char *line) {
  char name[WEFT_TASK_NAME_SIZE], after[METRICS_TEXT + 64];
  for (char *at = line; (at = strstr(at, "/job:"));) {
    const char *index = strstr(at, "/task:");
    if (!index) return;
    index += strlen("/task:");
    snprintf(after, sizeof after, "%s", index + strspn(index, "0123456789"));
    weft__task_short(name, sizeof name, at);
    size_t room = strlen(at) + 1;
    snprintf(at, room, "%s%s", name, after);
    at += strlen(name);
  }
}

static void report_add_wait(const report_listing *l, const char *what, int64_t since_ns) {
  char line[METRICS_TEXT + 64];
  int64_t ns = weft__clock_now_ns() - since_ns;
  if (ns < WAIT_MIN_S * NS_PER_S || l->out->n_waits == WAITS_MAX) return;
  snprintf(line, sizeof line, "%s, for %lld s", what, (long long)(ns / NS_PER_S));
  report_shorten_names(line);
  char *kept = weft__arena_strdup(l->a, line);
  if (kept) l->out->waits[l->out->n_waits++] = kept;
}

static void report_list_wait(void *arg, const metrics_wait *w) { report_add_wait(arg, w->what, w->since_ns); }

static weft_err report_add_waits(Weft__TaskReport *out, arena *a, const report_source *from) {
  report_listing l = {out, a, true};
  char what[METRICS_TEXT], who[WEFT_TASK_NAME_SIZE], master_task[WEFT_TASK_NAME_SIZE];
  out->waits = weft__arena_alloc(a, sizeof *out->waits * WAITS_MAX);
  if (!out->waits) return WEFT_OOM;
  weft__metrics_each_wait(report_list_wait, &l);
  for (int i = 0; i < weft__peers_count(from->peers); i++) {
    peer *p = weft__peers_at(from->peers, i);
    int64_t began;
    const char *method;
    if (!weft__peer_oldest_call(p, &began, &method)) continue;
    const char *name = strrchr(method, '/');
    snprintf(what, sizeof what, "%s: %s", weft__task_short(who, sizeof who, weft__peer_task(p)),
             name ? name + 1 : method);
    report_add_wait(&l, what, began);
  }
  int64_t began = weft__worker_oldest_run(from->worker, master_task, sizeof master_task);
  snprintf(what, sizeof what, "a step of %s runs here",
           *master_task ? weft__task_short(who, sizeof who, master_task) : "a client");
  if (began) report_add_wait(&l, what, began);
  return WEFT_OK;
}

/* ---- the report ---- */

/* Returns the state in the words of the page: a program that is blocked waits; a task in join serves while it has
 * sessions. */
static const char *report_state(member_state own, const Weft__TaskReport *r) {
  if (own == MEMBER_RUNNING && r->n_waits) return "waiting";
  if (own == MEMBER_JOINING || own == MEMBER_JOINED) return r->sessions ? "serving" : "idle";
  return weft__member_state_name(own);
}

weft_err weft__report_make(Weft__TaskReport *out, arena *a, const report_source *from, bool brief) {
  weft__task_report__init(out);
  out->task = from->task->name;
  out->version = (char *)(uintptr_t)WEFT_VERSION;
  out->incarnation = from->task->device[0]->incarnation;
  out->sessions = weft__worker_sessions(from->worker);
  weft__master_clients(from->master, &out->client_sessions, &out->idle_sessions);
  WEFT_TRY(report_add_process(out, a, brief));
  WEFT_TRY(report_add_variables(out, a, from->task->resources, brief));
  WEFT_TRY(report_add_waits(out, a, from));
  out->state = (char *)(uintptr_t)report_state(weft__members_own_state(from->members), out);
  return WEFT_OK;
}

void weft__report_handle(const report_source *from, call *c) {
  ProtobufCMessage *q = NULL;
  Weft__TaskReport report;
  arena a = {0};
  message answer = {0};
  weft_err err = weft__message_unpack(&q, weft__call_request(c), &weft__report_request__descriptor);
  if (!err) err = weft__report_make(&report, &a, from, ((Weft__ReportRequest *)q)->brief);
  if (!err) err = weft__message_pack(&answer, &report.base);
  if (q) protobuf_c_message_free_unpacked(q, NULL);
  weft__arena_finish(&a);
  weft__call_respond(c, err, &answer);
  weft__message_finish(&answer);
}
