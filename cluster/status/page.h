/* page.h - the status page of a server: the cluster as this task sees it.
 *
 * "/" is for people, "/status.json" for programs, "/metrics" for Prometheus (this task's own numbers).  It is
 * read-only.  The server owns the page; net/http.c has its thread. */
#ifndef WEFT_CLUSTER_STATUS_PAGE_H
#define WEFT_CLUSTER_STATUS_PAGE_H

#include "base/text.h"
#include "cluster/status/report.h"

typedef struct page page;

typedef struct page_opts {
  const char *host; /* a numeric address */
  int port;
  const char *token; /* that requests must carry, or NULL */
  bool only_local;
} page_opts;

/* Listens.  What the source points at outlives the page.  The error names the address. */
weft_err weft__page_create(page **out, const page_opts *opts, const report_source *from);
int weft__page_port(const page *p);
void weft__page_destroy(page *p); /* waits for the request in progress; NULL is allowed */

/* page_text.c: writes one task.  `state` is what is known of it (weft__members_state_text).  If it did not answer, r
 * is NULL and `why` is the reason. */
void weft__page_json_task(text *out, const peer *p, const char *state, const char *why, const Weft__TaskReport *r);
void weft__page_json_string(text *out, const char *s);
/* page_text.c: writes the metrics of one task. */
void weft__page_metrics(text *out, const Weft__TaskReport *r);
void weft__page_metric_up(text *out, const peer *p, bool up);

#endif
