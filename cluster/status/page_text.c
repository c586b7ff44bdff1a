/* page_text.c - a task's report as JSON and as Prometheus' text. */
#include "cluster/status/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- JSON ---- */

/* The length of a well-formed UTF-8 sequence; 0: it is none. */
static int sequence(const unsigned char *s) {
  const int n = s[0] < 0x80                   ? 1
                : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                              : 0;
  for (int i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0;
  if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
  return n;
}

void weft__page_json_string(text *out, const char *s) {
  weft__text_puts(out, "\"");
  for (const unsigned char *p = (const unsigned char *)s; *p;) {
    const int n = sequence(p);
    if (*p == '"' || *p == '\\')
      weft__text_printf(out, "\\%c", *p);
    else if (*p < 0x20)
      weft__text_printf(out, "\\u%04x", *p);
    else if (n)
      weft__text_add(out, (const char *)p, (size_t)n);
    else
      weft__text_puts(out, "\\ufffd");
    p += n ? n : 1;
  }
  weft__text_puts(out, "\"");
}

static void string(text *out, const char *key, const char *v) {
  weft__text_printf(out, ", \"%s\": ", key);
  weft__page_json_string(out, v);
}

/* Numbers that JSON has no word for are null. */
static void number(text *out, const char *key, double v) {
  if (isfinite(v))
    weft__text_printf(out, ", \"%s\": %.10g", key, v);
  else
    weft__text_printf(out, ", \"%s\": null", key);
}

static void count(text *out, const char *key, uint64_t v) { weft__text_printf(out, ", \"%s\": %" PRIu64, key, v); }

static void add_lists(text *out, const Weft__TaskReport *r) {
  weft__text_puts(out, ", \"waits\": [");
  for (size_t i = 0; i < r->n_waits; i++) {
    if (i) weft__text_puts(out, ", ");
    weft__page_json_string(out, r->waits[i]);
  }
  weft__text_puts(out, "], \"errors\": [");
  for (size_t i = 0; i < r->n_error; i++) {
    weft__text_printf(out, "%s{\"at\": %.3f", i ? ", " : "", (double)r->error[i]->at_us * 1e-6);
    string(out, "text", r->error[i]->text);
    weft__text_puts(out, "}");
  }
  weft__text_puts(out, "], \"variable_list\": [");
  for (size_t i = 0; i < r->n_variable; i++) {
    const Weft__VariableReport *v = r->variable[i];
    weft__text_puts(out, i ? ", {\"name\": " : "{\"name\": ");
    weft__page_json_string(out, v->name);
    string(out, "type", v->type);
    string(out, "shape", v->shape);
    count(out, "bytes", v->bytes);
    weft__text_puts(out, "}");
  }
  weft__text_puts(out, "], \"samples\": [");
  for (size_t i = 0; i < r->n_sample; i++) {
    const Weft__SampleReport *s = r->sample[i];
    weft__text_printf(out, "%s{\"at\": %.3f", i ? ", " : "", (double)s->at_us * 1e-6);
    count(out, "runs", s->runs), count(out, "parts", s->parts);
    count(out, "in", s->bytes_in), count(out, "out", s->bytes_out);
    number(out, "step", s->step < 0 ? (double)NAN : (double)s->step);
    number(out, "loss", s->loss);
    weft__text_puts(out, "}");
  }
  weft__text_puts(out, "]");
}

void weft__page_json_task(text *out, const peer *p, const char *word, const char *why, const Weft__TaskReport *r) {
  char name[WEFT_TASK_NAME_SIZE];
  weft__text_puts(out, "{\"name\": ");
  weft__page_json_string(out, weft__task_short(name, sizeof name, weft__peer_task(p)));
  string(out, "task", weft__peer_task(p));
  string(out, "address", weft__peer_address(p));
  weft__text_printf(out, ", \"up\": %s", r || strcmp(word, "TensorFlow") == 0 ? "true" : "false");
  string(out, "state", r ? r->state : word);
  string(out, "why", why);
  if (r) {
    string(out, "version", r->version), string(out, "host", r->host);
    count(out, "pid", (uint64_t)r->pid), number(out, "now", (double)r->now_us * 1e-6);
    number(out, "uptime", r->uptime), count(out, "sessions", (uint64_t)r->sessions);
    count(out, "client_sessions", (uint64_t)r->client_sessions);
    count(out, "idle_sessions", (uint64_t)r->idle_sessions);
    count(out, "runs", r->runs), count(out, "parts", r->parts);
    number(out, "runs_per_s", r->runs_rate), number(out, "parts_per_s", r->parts_rate);
    count(out, "bytes_in", r->bytes_in), count(out, "bytes_out", r->bytes_out);
    number(out, "in_per_s", r->in_rate), number(out, "out_per_s", r->out_rate);
    count(out, "resident", r->resident);
    number(out, "global_step", r->global_step < 0 ? (double)NAN : (double)r->global_step);
    number(out, "loss", r->loss);
    string(out, "checkpoint", r->checkpoint);
    number(out, "checkpoint_at", *r->checkpoint ? (double)r->checkpoint_us * 1e-6 : (double)NAN);
    count(out, "variables", r->variables), count(out, "variable_bytes", r->variable_bytes);
    add_lists(out, r);
  }
  weft__text_puts(out, "}");
}

/* ---- Prometheus ---- */

static void metric(text *out, const char *who, const char *name, const char *kind, const char *help, double v) {
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
    metric(out, who, all[i].name, all[i].kind, all[i].help, all[i].v);
  weft__text_puts(out, "# HELP weft_task_up Whether a task of the cluster is there, as this one sees it.\n"
                       "# TYPE weft_task_up gauge\n");
}

void weft__page_metric_up(text *out, const peer *p, bool up) {
  char name[WEFT_TASK_NAME_SIZE];
  weft__text_printf(out, "weft_task_up{task=\"%s\"} %d\n", weft__task_short(name, sizeof name, weft__peer_task(p)), up);
}
