/* hosts.c - lists of hosts are short texts, so that each comparison simply searches them. */
#include "cluster/membership/hosts.h"
#include "base/cast.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

typedef struct host_item { /* "worker:1" and "host:port", borrowed from the list */
  const char *task, *address;
  size_t task_size, job_size, address_size;
} host_item;

/* Reads the next item of a list.  Returns false at the end, and at text that is no item. */
static bool hosts_next(const char **list, host_item *out) {
  const char *start = *list, *end = start + strcspn(start, ",");
  const char *equal = memchr(start, '=', (size_t)(end - start));
  const char *colon = equal ? memchr(start, ':', (size_t)(equal - start)) : NULL;
  if (!colon) return false;
  *out = (host_item){start, equal + 1, (size_t)(equal - start), (size_t)(colon - start), (size_t)(end - equal - 1)};
  *list = *end ? end + 1 : end;
  return true;
}

static bool hosts_find(const char *list, const host_item *task, host_item *out) {
  while (hosts_next(&list, out))
    if (out->task_size == task->task_size && memcmp(out->task, task->task, task->task_size) == 0) return true;
  return false;
}

static bool is_anywhere(const char *host) {
  return weft__host_is_loopback(host) || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static bool same_address(const host_item *one, const host_item *other) {
  char a[WEFT_HOST_SIZE + 8], b[WEFT_HOST_SIZE + 8], host_a[WEFT_HOST_SIZE], host_b[WEFT_HOST_SIZE];
  int port_a, port_b;
  snprintf(a, sizeof a, "%.*s", weft__int_sat((int64_t)one->address_size), one->address);
  snprintf(b, sizeof b, "%.*s", weft__int_sat((int64_t)other->address_size), other->address);
  if (strcmp(a, b) == 0) return true;
  if (weft__address_split(a, host_a, &port_a) != WEFT_OK || weft__address_split(b, host_b, &port_b) != WEFT_OK)
    return false;
  return port_a == port_b && (is_anywhere(host_a) || is_anywhere(host_b));
}

/* Returns true if the list has a task of this job that is not its owner. */
static bool lists_others(const char *list, const char *owner, const host_item *of) {
  host_item i;
  while (hosts_next(&list, &i))
    if (i.job_size == of->job_size && memcmp(i.task, of->task, i.job_size) == 0 &&
        (strlen(owner) != i.task_size || memcmp(owner, i.task, i.task_size) != 0))
      return true;
  return false;
}

/* Returns true if `other`, the list of `owner`, should have a task of `list` and has not, or has it elsewhere. */
static bool hosts_missing(const char *list, const char *other, const char *owner) {
  host_item i, found;
  while (hosts_next(&list, &i)) {
    if (hosts_find(other, &i, &found) ? !same_address(&i, &found) : lists_others(other, owner, &i)) return true;
  }
  return false;
}

bool weft__hosts_differ(const char *mine, const char *me, const char *theirs, const char *them) {
  return hosts_missing(mine, theirs, them) || hosts_missing(theirs, mine, me);
}

char *weft__hosts_text(const peers *p) {
  text t = {0};
  char name[WEFT_TASK_NAME_SIZE];
  for (int i = 0; i < weft__peers_count(p); i++) {
    const peer *one = weft__peers_at(p, i);
    weft__text_printf(&t, "%s%s=%s", i ? "," : "", weft__task_short(name, sizeof name, weft__peer_task(one)),
                      weft__peer_address(one));
  }
  return weft__text_take(&t);
}
