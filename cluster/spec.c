/* spec.c - builds a cluster from lists, maps, flags, messages and TF_CONFIG.
 *
 * Every task is added by weft__cluster_add, which checks names and addresses and keeps jobs and tasks in order.  There
 * is no lock: a cluster belongs to its caller. */
#include "cluster/spec.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/json.h"
#include <ctype.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void weft__cluster_init(cluster *c) { *c = (cluster){0}; }

void weft__cluster_finish(cluster *c) {
  for (int i = 0; i < c->n_job; i++) {
    for (int j = 0; j < c->job[i].n_task; j++) weft__free(c->job[i].task[j].address);
    weft__free(c->job[i].task);
    weft__free(c->job[i].name);
  }
  weft__free(c->job);
  *c = (cluster){0};
}

weft_err weft__cluster_copy(cluster *to, const cluster *from) {
  weft__cluster_init(to);
  weft_err err = WEFT_OK;
  for (int i = 0; i < from->n_job && !err; i++)
    for (int j = 0; j < from->job[i].n_task && !err; j++)
      err = weft__cluster_add(to, from->job[i].name, from->job[i].task[j].index, from->job[i].task[j].address);
  if (err) weft__cluster_finish(to);
  return err;
}

/* ---- addresses ---- */

weft_err weft__address_split(const char *address, char host[WEFT_HOST_SIZE], int *port) {
  const char *colon = strrchr(address, ':'), *first = address, *end = colon;
  if (colon && *address == '[' && colon > address + 1 && colon[-1] == ']') first++, end--;
  size_t n = colon ? (size_t)(end - first) : 0;
  char *stop = NULL;
  long number = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &stop, 10) : -1;
  bool bare_v6 = colon && first == address && memchr(first, ':', n);
  if (n == 0 || n >= WEFT_HOST_SIZE || number < 0 || number > 65535 || *stop || bare_v6)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Could not interpret \"%s\" as a host-port pair%s", address,
                      *address ? ": write HOST:PORT, with a port from 0 to 65535"
                               : ": the address is empty, as in a list of hosts that was not given");
  for (size_t i = 0; i < n; i++)
    if (!isgraph((unsigned char)first[i]) || strchr("/,;=[]\"", first[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Could not interpret \"%s\" as a host-port pair: '%c' in the host.",
                        address, first[i]);
  memcpy(host, first, n);
  host[n] = 0;
  *port = weft__int_sat(number);
  return WEFT_OK;
}

/* The host is parsed as a number: "127.example.org" only looks like a loopback address. */
bool weft__host_is_loopback(const char *host) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *found = NULL;
  if (strcmp(host, "localhost") == 0) return true;
  if (getaddrinfo(host, NULL, &hints, &found) != 0) return false;
  bool is = false;
  if (found->ai_family == AF_INET)
    is = ntohl(((const struct sockaddr_in *)found->ai_addr)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  if (found->ai_family == AF_INET6) {
    const struct in6_addr *a = &((const struct sockaddr_in6 *)found->ai_addr)->sin6_addr;
    is = IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == IN_LOOPBACKNET);
  }
  freeaddrinfo(found);
  return is;
}

bool weft__cluster_is_loopback(const cluster *c) {
  char host[WEFT_HOST_SIZE];
  int port;
  for (int i = 0; i < c->n_job; i++)
    for (int j = 0; j < c->job[i].n_task; j++)
      if (weft__address_split(c->job[i].task[j].address, host, &port) != WEFT_OK || !weft__host_is_loopback(host))
        return false;
  return true;
}

/* ---- adding ---- */

static weft_err cluster_check_job_name(const char *name) {
  bool good = isalpha((unsigned char)*name) && strlen(name) < 64;
  for (const char *s = name; *s && good; s++) good = isalnum((unsigned char)*s) || *s == '_';
  return good ? WEFT_OK
              : weft__fail(WEFT_INVALID_ARGUMENT, "'%s' is not a name for a job (use letters, digits and _)", name);
}

/* Finds the job, or inserts it in order. */
static weft_err cluster_find_or_add_job(cluster *c, const char *name, cluster_job **out) {
  int at = 0, order = 1;
  while (at < c->n_job && (order = strcmp(c->job[at].name, name)) < 0) at++;
  if (at == c->n_job || order != 0) {
    WEFT_TRY(WEFT_ARRAY_RESERVE(c->job, c->capacity, c->n_job + 1));
    char *copy = weft__strdup(name);
    if (!copy) return WEFT_OOM;
    memmove(&c->job[at + 1], &c->job[at], sizeof *c->job * (size_t)(c->n_job++ - at));
    c->job[at] = (cluster_job){.name = copy};
  }
  *out = &c->job[at];
  return WEFT_OK;
}

weft_err weft__cluster_add(cluster *c, const char *job, int index, const char *address) {
  char host[WEFT_HOST_SIZE];
  int port;
  cluster_job *j;
  WEFT_TRY(cluster_check_job_name(job));
  if (index < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "job %s: a task cannot have the index %d", job, index);
  weft_err err = weft__address_split(address, host, &port);
  if (err) return weft__fail_in(err, "task %d of job %s", index, job);
  WEFT_TRY(cluster_find_or_add_job(c, job, &j));
  int at = 0;
  while (at < j->n_task && j->task[at].index < index) at++;
  if (at < j->n_task && j->task[at].index == index)
    return weft__fail(WEFT_ALREADY_EXISTS, "task %d of job %s has two addresses: \"%s\" and \"%s\"", index, job,
                      j->task[at].address, address);
  WEFT_TRY(WEFT_ARRAY_RESERVE(j->task, j->capacity, j->n_task + 1));
  char *copy = weft__strdup(address);
  if (!copy) return WEFT_OOM;
  memmove(&j->task[at + 1], &j->task[at], sizeof *j->task * (size_t)(j->n_task++ - at));
  j->task[at] = (cluster_task){index, copy};
  return WEFT_OK;
}

/* Removes the white space around the text. */
static void cluster_trim(const char **text, size_t *n) {
  while (*n && isspace((unsigned char)**text)) ++*text, --*n;
  while (*n && isspace((unsigned char)(*text)[*n - 1])) --*n;
}

static weft_err cluster_add_hosts(cluster *c, const char *job, const char *hosts, size_t size) {
  weft_err err = WEFT_OK;
  for (int index = 0; !err; index++) {
    const char *comma = memchr(hosts, ',', size), *one = hosts;
    size_t whole = comma ? (size_t)(comma - hosts) : size, n = whole;
    cluster_trim(&one, &n);
    char *address = weft__strndup(one, n);
    err = address ? weft__cluster_add(c, job, index, address) : WEFT_OOM;
    weft__free(address);
    if (!comma) break;
    hosts += whole + 1;
    size -= whole + 1;
  }
  return err;
}

weft_err weft__cluster_add_hosts(cluster *c, const char *job, const char *hosts) {
  return cluster_add_hosts(c, job, hosts, strlen(hosts));
}

/* ---- JSON ---- */

static weft_err cluster_read_index(const json *j, const char *spelt, int *out) {
  char *stop = NULL;
  double number = j && j->kind == JSON_NUMBER ? j->number : -1;
  if (spelt && isdigit((unsigned char)*spelt)) number = strtod(spelt, &stop);
  if ((stop && *stop) || number < 0 || number > INT_MAX || number != (double)(int)number)
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' is not the index of a task (a whole number from 0)",
                      spelt ? spelt : "?");
  *out = (int)number; /* fits: compared above */
  return WEFT_OK;
}

static weft_err cluster_add_json_job(cluster *c, const char *name, const json *job) {
  if (job->kind != JSON_ARRAY && job->kind != JSON_OBJECT)
    return weft__fail(WEFT_INVALID_ARGUMENT, "job %s: neither a list of addresses nor a map of them", name);
  int index = 0;
  for (const json *task = job->first; task; task = task->next, index++) {
    if (task->key) WEFT_TRY(cluster_read_index(NULL, task->key, &index));
    if (task->kind != JSON_STRING)
      return weft__fail(WEFT_INVALID_ARGUMENT, "task %d of job %s: its address is not a string", index, name);
    WEFT_TRY(weft__cluster_add(c, name, index, task->text));
  }
  return WEFT_OK;
}

static weft_err cluster_add_json(cluster *c, const json *jobs) {
  if (jobs->kind != JSON_OBJECT)
    return weft__fail(WEFT_INVALID_ARGUMENT, "TF_CONFIG's cluster is not a map from job names to tasks");
  for (const json *job = jobs->first; job; job = job->next) WEFT_TRY(cluster_add_json_job(c, job->key, job));
  return WEFT_OK;
}

/* Returns the map of jobs.  Kubeflow calls it "sparseCluster" if the number of workers changes. */
static const json *cluster_json_jobs(const json *config) {
  const json *jobs = weft__json_get(config, "cluster");
  return jobs ? jobs : weft__json_get(config, "sparseCluster");
}

static weft_err cluster_read_tf_config(cluster *c, arena *a, const char *text, char **job, int *task) {
  json *config;
  WEFT_TRY(weft__json_parse(&config, a, text, strlen(text)));
  if (cluster_json_jobs(config)) WEFT_TRY(cluster_add_json(c, cluster_json_jobs(config)));
  const json *task_json = weft__json_get(config, "task"), *type = weft__json_get(task_json, "type"),
             *index = weft__json_get(task_json, "index");
  bool named = type && type->kind == JSON_STRING;
  if (index) WEFT_TRY(cluster_read_index(index, index->kind == JSON_STRING ? index->text : NULL, task));
  if (named && !index) *task = 0;
  *job = weft__strdup(named ? type->text : "");
  return *job ? WEFT_OK : WEFT_OOM;
}

weft_err weft__cluster_from_tf_config(cluster *c, const char *text, char **job, int *task) {
  arena a = {0};
  *job = NULL;
  *task = -1;
  weft__cluster_init(c);
  weft_err err = cluster_read_tf_config(c, &a, text, job, task);
  weft__arena_finish(&a);
  if (!err) return WEFT_OK;
  weft__cluster_finish(c);
  return weft__fail_in(err, "TF_CONFIG");
}

static weft_err cluster_parse_json(cluster *c, const char *text) {
  arena a = {0};
  json *config;
  weft_err err = weft__json_parse(&config, &a, text, strlen(text));
  if (!err) err = cluster_add_json(c, cluster_json_jobs(config) ? cluster_json_jobs(config) : config);
  weft__arena_finish(&a);
  return err;
}

/* ---- "ps=a:1,b:2;worker=c:3" ---- */

static weft_err cluster_parse_job(cluster *c, const char *text, size_t size) {
  cluster_trim(&text, &size);
  if (size == 0 || *text == '#') return WEFT_OK;
  const char *equals = memchr(text, '=', size), *name = text;
  size_t n = equals ? (size_t)(equals - text) : 0;
  cluster_trim(&name, &n);
  char *job = n ? weft__strndup(name, n) : NULL;
  if (n == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "cluster: cannot read \"%.*s\": it must be job=host:port,host:port",
                      weft__int_sat(size > 100 ? 100 : size), text);
  weft_err err = job ? WEFT_OK : WEFT_OOM;
  if (!err && weft__cluster_job(c, job)) err = weft__fail(WEFT_ALREADY_EXISTS, "the cluster names job %s twice", job);
  if (!err) err = cluster_add_hosts(c, job, equals + 1, size - (size_t)(equals + 1 - text));
  weft__free(job);
  return err;
}

weft_err weft__cluster_parse(cluster *c, const char *text) {
  weft__cluster_init(c);
  weft_err err = WEFT_OK;
  if (text[strspn(text, " \t\r\n")] == '{') {
    err = cluster_parse_json(c, text);
  } else {
    while (*text && !err) {
      size_t n = strcspn(text, ";\n");
      err = cluster_parse_job(c, text, n);
      text += n + (text[n] != 0);
    }
    if (!err && c->n_job == 0) err = weft__fail(WEFT_INVALID_ARGUMENT, "the cluster has no job");
  }
  if (err) weft__cluster_finish(c);
  return err;
}

/* ---- ClusterDef ---- */

weft_err weft__cluster_from_def(cluster *c, const Tensorflow__ClusterDef *def) {
  weft__cluster_init(c);
  weft_err err = WEFT_OK;
  for (size_t i = 0; i < def->n_job && !err; i++)
    for (size_t j = 0; j < def->job[i]->n_tasks && !err; j++)
      err = weft__cluster_add(c, def->job[i]->name, def->job[i]->tasks[j]->key, def->job[i]->tasks[j]->value);
  if (err) weft__cluster_finish(c);
  return err;
}

static weft_err cluster_fill_job_def(arena *a, Tensorflow__JobDef *to, const cluster_job *from) {
  tensorflow__job_def__init(to);
  to->name = from->name;
  to->tasks = weft__arena_alloc(a, sizeof *to->tasks * (size_t)from->n_task);
  Tensorflow__JobDefTasksEntry *entry = weft__arena_alloc(a, sizeof *entry * (size_t)from->n_task);
  if (!to->tasks || !entry) return WEFT_OOM;
  for (int i = 0; i < from->n_task; i++) {
    tensorflow__job_def_tasks_entry__init(&entry[i]);
    entry[i].key = from->task[i].index;
    entry[i].value = from->task[i].address;
    to->tasks[to->n_tasks++] = &entry[i];
  }
  return WEFT_OK;
}

static weft_err cluster_pack_def(const cluster *c, arena *a, uint8_t **out, size_t *size) {
  Tensorflow__ClusterDef def = TENSORFLOW__CLUSTER_DEF__INIT;
  def.job = weft__arena_alloc(a, sizeof *def.job * (size_t)(c->n_job + 1));
  Tensorflow__JobDef *job = weft__arena_alloc(a, sizeof *job * (size_t)(c->n_job + 1));
  if (!def.job || !job) return WEFT_OOM;
  for (int i = 0; i < c->n_job; i++) {
    WEFT_TRY(cluster_fill_job_def(a, &job[i], &c->job[i]));
    def.job[def.n_job++] = &job[i];
  }
  *size = tensorflow__cluster_def__get_packed_size(&def);
  if (!(*out = weft__alloc(*size + 1))) return WEFT_OOM;
  tensorflow__cluster_def__pack(&def, *out);
  return WEFT_OK;
}

weft_err weft__cluster_to_def(const cluster *c, uint8_t **out, size_t *size) {
  arena a = {0};
  weft_err err = cluster_pack_def(c, &a, out, size);
  weft__arena_finish(&a);
  return err;
}

/* ---- queries ---- */

const cluster_job *weft__cluster_job(const cluster *c, const char *job) {
  for (int i = 0; i < c->n_job; i++)
    if (strcmp(c->job[i].name, job) == 0) return &c->job[i];
  return NULL;
}

const char *weft__cluster_address(const cluster *c, const char *job, int task) {
  const cluster_job *j = weft__cluster_job(c, job);
  for (int i = 0; j && i < j->n_task; i++)
    if (j->task[i].index == task) return j->task[i].address;
  return NULL;
}

int weft__cluster_size(const cluster *c) {
  int n = 0;
  for (int i = 0; i < c->n_job; i++) n += c->job[i].n_task;
  return n;
}

char *weft__task_name(char *buf, size_t size, const char *job, int task) {
  snprintf(buf, size, "/job:%s/replica:0/task:%d", job, task);
  return buf;
}

const char *weft__task_short(char *buf, size_t size, const char *task) {
  const char *job = strstr(task, "/job:"), *index = strstr(task, "/task:");
  if (!job || !index) return snprintf(buf, size, "%s", task), buf;
  job += strlen("/job:");
  snprintf(buf, size, "%.*s:%d", weft__int_sat(strcspn(job, "/")), job, atoi(index + strlen("/task:")));
  return buf;
}
