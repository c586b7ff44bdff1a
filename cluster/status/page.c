/* page.c - requests the report of every task, at most once a second, and serves the page from these reports.
 *
 * Only the thread of the HTTP server runs here, so nothing needs a lock. */
#include "cluster/status/page.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cluster/master/broadcast.h"
#include "net/http.h"
#include <string.h>

enum { REQUEST_MS = 1500, FRESH_MS = 900 };

struct page {
  report_source from;
  http *http;
  cancel closing; /* cancels the requests in progress */
  text json;      /* the last status.json */
  int64_t made_ns;
};

extern const unsigned char weft__page_html[]; /* cluster/status/page.html, embedded by the build */
extern const size_t weft__page_html_size;

/* ---- the cluster ---- */

static weft_err page_pack_requests(page *p, broadcast_call *calls, int *n) {
  Weft__ReportRequest all = WEFT__REPORT_REQUEST__INIT;
  for (int i = 0; i < weft__peers_count(p->from.peers); i++) {
    peer *to = weft__peers_at(p->from.peers, i);
    if (weft__peer_is_self(to) || strcmp(weft__members_state_text(p->from.members, i), "done") == 0) continue;
    calls[*n].to = to;
    WEFT_TRY(weft__message_pack(&calls[(*n)++].request, &all.base));
  }
  return WEFT_OK;
}

static broadcast_call *page_find_call(broadcast_call *calls, int n, const peer *p) {
  for (int i = 0; i < n; i++)
    if (calls[i].to == p) return &calls[i];
  return NULL;
}

/* Writes the report of another task, or why there is none. */
static void page_add_task(page *p, text *out, const peer *to, broadcast_call *a) {
  ProtobufCMessage *m = NULL;
  const char *state = weft__members_state_text(p->from.members, weft__peer_number(to)), *why = "";
  if (a && a->status.code) why = a->status.message ? a->status.message : weft__error_name(a->status.code);
  if (a && !a->status.code && weft__message_unpack(&m, &a->reply, &weft__task_report__descriptor) != WEFT_OK)
    why = "its answer is malformed";
  if (a && a->status.code == WEFT_UNIMPLEMENTED) state = "TensorFlow", why = "";
  weft__page_json_task(out, to, state, why, (const Weft__TaskReport *)m);
  if (m) protobuf_c_message_free_unpacked(m, NULL);
}

static weft_err page_write_json(page *p, text *out, arena *a, broadcast_call *calls) {
  Weft__TaskReport own;
  int n = 0;
  weft_err err = page_pack_requests(p, calls, &n);
  if (!err) /* errors of single tasks are part of the answer */
    (void)weft__broadcast(calls, n, WEFT_REPORT_METHOD, &(call_opts){.timeout_ms = REQUEST_MS, .cancel = &p->closing});
  if (!err) err = weft__report_make(&own, a, &p->from, false);
  if (!err) {
    weft__text_puts(out, "{\"task\": ");
    weft__page_json_string(out, own.task);
    weft__text_printf(out, ", \"version\": \"%s\", \"now\": %.3f, \"tasks\": [", own.version,
                      (double)own.now_us * 1e-6);
    for (int i = 0; i < weft__peers_count(p->from.peers); i++) {
      const peer *to = weft__peers_at(p->from.peers, i);
      if (i) weft__text_puts(out, ",\n");
      if (weft__peer_is_self(to))
        weft__page_json_task(out, to, own.state, "", &own);
      else
        page_add_task(p, out, to, page_find_call(calls, n, to));
    }
    weft__text_puts(out, "]}\n");
  }
  weft__broadcast_finish(calls, n);
  return err;
}

static weft_err page_refresh(page *p) {
  if (p->made_ns && weft__clock_now_ns() - p->made_ns < FRESH_MS * NS_PER_MS) return WEFT_OK;
  arena a = {0};
  text made = {0};
  broadcast_call *calls = weft__alloc_zero((size_t)weft__peers_count(p->from.peers) + 1, sizeof *calls);
  weft_err err = calls ? page_write_json(p, &made, &a, calls) : WEFT_OOM;
  if (!err && made.failed) err = WEFT_OOM;
  weft__free(calls);
  weft__arena_finish(&a);
  if (err) {
    weft__text_finish(&made);
    return err;
  }
  weft__text_finish(&p->json);
  p->json = made;
  p->made_ns = weft__clock_now_ns();
  return WEFT_OK;
}

/* ---- the paths ---- */

static weft_err page_write_metrics(page *p, text *out) {
  arena a = {0};
  Weft__TaskReport own;
  weft_err err = weft__report_make(&own, &a, &p->from, true);
  if (!err) {
    weft__page_metrics(out, &own);
    for (int i = 0; i < weft__peers_count(p->from.peers); i++) {
      const peer *to = weft__peers_at(p->from.peers, i);
      const char *state = weft__members_state_text(p->from.members, i);
      bool gone = strcmp(state, "done") == 0 || strcmp(state, "lost") == 0 || strcmp(state, "not seen") == 0;
      weft__page_metric_up(out, to, weft__peer_is_self(to) || !gone);
    }
  }
  weft__arena_finish(&a);
  return err;
}

static void page_answer(void *arg, const char *path, http_response *r) {
  page *p = arg;
  weft_err err = WEFT_OK;
  if (strcmp(path, "/") == 0) {
    r->type = "text/html; charset=utf-8";
    weft__text_add(&r->body, (const char *)weft__page_html, weft__page_html_size);
  } else if (strcmp(path, "/status.json") == 0) {
    r->type = "application/json";
    err = page_refresh(p);
    if (!err) weft__text_add(&r->body, p->json.data, p->json.size);
  } else if (strcmp(path, "/metrics") == 0) {
    r->type = "text/plain; version=0.0.4; charset=utf-8";
    err = page_write_metrics(p, &r->body);
  } else {
    r->code = 404;
    weft__text_puts(&r->body, "not found: the pages are /, /status.json and /metrics\n");
  }
  if (!err) return;
  r->code = 500;
  r->type = "text/plain; charset=utf-8";
  weft__text_printf(&r->body, "%s\n", weft__error_message());
}

/* ---- creation ---- */

weft_err weft__page_create(page **out, const page_opts *o, const report_source *from) {
  page *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->from = *from;
  weft__cancel_init(&p->closing);
  http_opts opts = {o->host, o->port, o->token, o->only_local};
  weft_err err = weft__http_listen(&p->http, &opts, page_answer, p);
  if (err)
    weft__page_destroy(p);
  else
    *out = p;
  if (err) (void)weft__fail_in(err, "the status page cannot listen on");
  if (err == WEFT_UNAVAILABLE) /* the port cannot be had */
    return weft__fail_again(err, "%s (WEFT_STATUS_PORT or weft serve --status-port PORT chooses another)",
                            weft__error_message());
  return err;
}

int weft__page_port(const page *p) { return weft__http_port(p->http); }

void weft__page_destroy(page *p) {
  if (!p) return;
  weft__cancel_fire(&p->closing, WEFT_CANCELLED, "the status page is being closed");
  weft__http_close(p->http);
  weft__cancel_finish(&p->closing);
  weft__text_finish(&p->json);
  weft__free(p);
}
