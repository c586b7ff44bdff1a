/* page.h - the status page of a server: the cluster as this task sees it, for people (/), for programs (/status.json)
 * and for Prometheus (/metrics: this task's own numbers).  Nothing can be done from it. */
#ifndef WEFT_CLUSTER_STATUS_PAGE_H
#define WEFT_CLUSTER_STATUS_PAGE_H

#include "base/text.h"
#include "cluster/status/report.h"

typedef struct page page;

typedef struct page_opts {
  const char *host; /* a number */
  int port;
  const char *token; /* or NULL */
  bool only_local;
} page_opts;

/* The source's parts outlive it. */
weft_err weft__page_create(page **out, const page_opts *opts, const report_source *from);
int weft__page_port(const page *p);
void weft__page_destroy(page *p); /* NULL is fine */

/* page_text.c: a task in the texts.  `word` is what is known of it (weft__members_word) and `why` why it did not
 * answer; r is NULL then. */
void weft__page_json_task(text *out, const peer *p, const char *word, const char *why, const Weft__TaskReport *r);
void weft__page_json_string(text *out, const char *s);
/* The metrics of one task. */
void weft__page_metrics(text *out, const Weft__TaskReport *r);
void weft__page_metric_up(text *out, const peer *p, bool up);

#endif
