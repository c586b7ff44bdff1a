/* page_text.c - writes the report of a task as JSON and in Prometheus' text format.  It has no state and no lock. */
#include "cluster/status/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- JSON ---- */

void weft__page_json_string(text *out, const char *s) { weft__text_json(out, s, strlen(s)); }

static void json_string(text *out, const char *key, const char *v) {
  weft__text_printf(out, ", \"%s\": ", key);
  weft__page_json_string(out, v);
}

/* NaN and infinities, which JSON does not have, become null. */
static void json_number(text *out, const char *key, double v) {
  if (isfinite(v))
    weft__text_printf(out, ", \"%s\": %.10g", key, v);
  else
    weft__text_printf(out, ", \"%s\": null", key);
}

static void json_count(text *out, const char *key, uint64_t v) { weft__text_printf(out, ", \"%s\": %" PRIu64, key, v); }

static void json_lists(text *out, const Weft__TaskReport *r) {
  weft__text_puts(out, ", \"waits\": [");
  for (size_t i = 0; i < r->n_waits; i++) {
    if (i) weft__text_puts(out, ", ");
    weft__page_json_string(out, r->waits[i]);
  }
  weft__text_puts(out, "], \"errors\": [");
  for (size_t i = 0; i < r->n_error; i++) {
    weft__text_printf(out, "%s{\"at\": %.3f", i ? ", " : "", (double)r->error[i]->at_us * 1e-6);
    json_string(out, "component", r->error[i]->component);
    json_string(out, "text", r->error[i]->text);
    weft__text_puts(out, "}");
  }
  weft__text_puts(out, "], \"variable_list\": [");
  for (size_t i = 0; i < r->n_variable; i++) {
    const Weft__VariableReport *v = r->variable[i];
    weft__text_puts(out, i ? ", {\"name\": " : "{\"name\": ");
    weft__page_json_string(out, v->name);
    json_string(out, "type", v->type);
    json_string(out, "shape", v->shape);
    json_count(out, "bytes", v->bytes);
    weft__text_puts(out, "}");
  }
  weft__text_puts(out, "], \"samples\": [");
  for (size_t i = 0; i < r->n_sample; i++) {
    const Weft__SampleReport *s = r->sample[i];
    weft__text_printf(out, "%s{\"at\": %.3f", i ? ", " : "", (double)s->at_us * 1e-6);
    json_count(out, "runs", s->runs), json_count(out, "parts", s->parts);
    json_count(out, "in", s->bytes_in), json_count(out, "out", s->bytes_out);
    json_number(out, "step", s->step < 0 ? (double)NAN : (double)s->step);
    json_number(out, "loss", s->loss);
    weft__text_puts(out, "}");
  }
  weft__text_puts(out, "]");
}

void weft__page_json_task(text *out, const peer *p, const char *state, const char *why, const Weft__TaskReport *r) {
  char name[WEFT_TASK_NAME_SIZE];
  weft__text_puts(out, "{\"name\": ");
  weft__page_json_string(out, weft__task_short(name, sizeof name, weft__peer_task(p)));
  json_string(out, "task", weft__peer_task(p));
  json_string(out, "address", weft__peer_address(p));
  weft__text_printf(out, ", \"up\": %s", r || strcmp(state, "TensorFlow") == 0 ? "true" : "false");
  json_string(out, "state", r ? r->state : state);
  json_string(out, "why", why);
  if (r) {
    json_string(out, "version", r->version), json_string(out, "host", r->host);
    json_count(out, "pid", (uint64_t)r->pid), json_number(out, "now", (double)r->now_us * 1e-6);
    json_number(out, "uptime", r->uptime), json_count(out, "sessions", (uint64_t)r->sessions);
    json_count(out, "client_sessions", (uint64_t)r->client_sessions);
    json_count(out, "idle_sessions", (uint64_t)r->idle_sessions);
    json_count(out, "runs", r->runs), json_count(out, "parts", r->parts);
    json_number(out, "runs_per_s", r->runs_rate), json_number(out, "parts_per_s", r->parts_rate);
    json_count(out, "bytes_in", r->bytes_in), json_count(out, "bytes_out", r->bytes_out);
    json_number(out, "in_per_s", r->in_rate), json_number(out, "out_per_s", r->out_rate);
    json_count(out, "resident", r->resident);
    json_number(out, "global_step", r->global_step < 0 ? (double)NAN : (double)r->global_step);
    json_number(out, "loss", r->loss);
    json_string(out, "checkpoint", r->checkpoint);
    json_number(out, "checkpoint_at", *r->checkpoint ? (double)r->checkpoint_us * 1e-6 : (double)NAN);
    json_count(out, "variables", r->variables), json_count(out, "variable_bytes", r->variable_bytes);
    json_lists(out, r);
  }
  weft__text_puts(out, "}");
}

/* ---- Prometheus ---- */

static void metrics_add(text *out, const char *who, const char *name, const char *kind, const char *help, double v) {
  if (isnan(v)) return;
  weft__text_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s{task=\"%s\"} %.17g\n", name, help, name, kind, name, who, v);
}

void weft__page_metrics(text *out, const Weft__TaskReport *r) {
  char who[WEFT_TASK_NAME_SIZE];
  weft__task_short(who, sizeof who, r->task); /* job names have letters, digits and _ only */
  weft__text_printf(out,
                    "# HELP weft_info Which Weft this is.\n# TYPE weft_info gauge\n"
                    "weft_info{task=\"%s\",version=\"%s\",state=\"%s\"} 1\n",
                    who, r->version, r->state);
  const struct {
    const char *name, *kind, *help;
    double v;
  } all[] = {
      {"weft_uptime_seconds", "gauge", "Since the process first did anything.", r->uptime},
      {"weft_sessions", "gauge", "Sessions of any master that are open on this task.", r->sessions},
      {"weft_client_sessions", "gauge", "Sessions of other processes whose master is this one.", r->client_sessions},
      {"weft_idle_sessions", "gauge", "Those of them whose client is away and whose plans are freed.",
       r->idle_sessions},
      {"weft_runs_total", "counter", "Runs of sessions whose master is this process.", (double)r->runs},
      {"weft_parts_total", "counter", "Parts of steps that this process has run.", (double)r->parts},
      {"weft_received_bytes_total", "counter", "Bytes that came over the network.", (double)r->bytes_in},
      {"weft_sent_bytes_total", "counter", "Bytes that went over the network.", (double)r->bytes_out},
      {"weft_resident_bytes", "gauge", "Memory of the process.", (double)r->resident},
      {"weft_variables", "gauge", "Variables on this task.", (double)r->variables},
      {"weft_variable_bytes", "gauge", "Bytes of the variables on this task.", (double)r->variable_bytes},
      {"weft_waits", "gauge", "What this process has been waiting for, for a second or more.", (double)r->n_waits},
      {"weft_global_step", "gauge", "The global step, as far as this task knows it.",
       r->global_step < 0 ? (double)NAN : (double)r->global_step},
      {"weft_loss", "gauge", "The last loss that a run of this process fetched.", r->loss},
      {"weft_checkpoint_timestamp_seconds", "gauge", "When this process last wrote a checkpoint.",
       *r->checkpoint ? (double)r->checkpoint_us * 1e-6 : (double)NAN},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    metrics_add(out, who, all[i].name, all[i].kind, all[i].help, all[i].v);
  weft__text_puts(out, "# HELP weft_task_up Whether a task of the cluster is there, as this one sees it.\n"
                       "# TYPE weft_task_up gauge\n");
}

void weft__page_metric_up(text *out, const peer *p, bool up) {
  char name[WEFT_TASK_NAME_SIZE];
  weft__text_printf(out, "weft_task_up{task=\"%s\"} %d\n", weft__task_short(name, sizeof name, weft__peer_task(p)), up);
}
