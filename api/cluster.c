/* cluster.c - the public functions of cluster specs, and the task of this process. */
#include "api/argument.h"
#include "weft/cluster.h"

#include "api/cluster.h"
#include "base/alloc.h"
#include "cluster/role.h"
#include "proto/scan.h"
#include <stdlib.h>

static weft_err cluster_create(weft_cluster **out) {
  *out = weft__alloc_zero(1, sizeof **out);
  return *out ? WEFT_OK : WEFT_OOM;
}

/* Returns err.  On an error, frees the cluster and stores NULL. */
static weft_err cluster_finish(weft_cluster **out, weft_err err) {
  if (err != WEFT_OK) {
    weft__free(*out);
    *out = NULL;
  }
  return err;
}

weft_err weft_cluster_create(weft_cluster **out) {
  API_NEED(out);
  return cluster_create(out);
}

void weft_cluster_destroy(weft_cluster *c) {
  if (!c) return;
  weft__cluster_finish(&c->all);
  weft__free(c);
}

weft_err weft_cluster_add(weft_cluster *c, const char *job, int task, const char *address) {
  API_NEED(c);
  API_NEED(job);
  API_NEED(address);

  return weft__cluster_add(&c->all, job, task, address);
}

weft_err weft_cluster_add_hosts(weft_cluster *c, const char *job, const char *hosts) {
  API_NEED(c);
  API_NEED(job);
  API_NEED(hosts);

  return weft__cluster_add_hosts(&c->all, job, hosts);
}

weft_err weft_cluster_parse(weft_cluster **out, const char *text) {
  API_NEED(out);
  API_NEED(text);

  WEFT_TRY(cluster_create(out));
  return cluster_finish(out, weft__cluster_parse(&(*out)->all, text));
}

weft_err weft_cluster_from_def(weft_cluster **out, const void *cluster_def, size_t size) {
  API_NEED(out);
  API_ITEMS(size, cluster_def);

  ProtobufCMessage *def;
  *out = NULL;
  WEFT_TRY(weft__proto_unpack(&def, &tensorflow__cluster_def__descriptor, cluster_def, size));
  weft_err err = cluster_create(out);
  if (!err) err = cluster_finish(out, weft__cluster_from_def(&(*out)->all, (Tensorflow__ClusterDef *)def));
  protobuf_c_message_free_unpacked(def, NULL);
  return err;
}

weft_err weft_cluster_to_def(void **out, size_t *size, const weft_cluster *c) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(c);

  uint8_t *bytes;
  WEFT_TRY(weft__cluster_to_def(&c->all, &bytes, size));
  *out = bytes;
  return WEFT_OK;
}

int weft_cluster_job_count(const weft_cluster *c) {
  API_NEED_OR(c, 0);
  return c->all.n_job;
}

const char *weft_cluster_job(const weft_cluster *c, int i) {
  API_NEED_OR(c, NULL);

  return i >= 0 && i < c->all.n_job ? c->all.job[i].name : NULL;
}

int weft_cluster_task_count(const weft_cluster *c, const char *job) {
  API_NEED_OR(c, 0);
  API_NEED_OR(job, 0);

  const cluster_job *j = weft__cluster_job(&c->all, job);
  return j ? j->n_task : 0;
}

int weft_cluster_task(const weft_cluster *c, const char *job, int i) {
  API_NEED_OR(c, 0);
  API_NEED_OR(job, 0);

  const cluster_job *j = weft__cluster_job(&c->all, job);
  return j && i >= 0 && i < j->n_task ? j->task[i].index : -1;
}

const char *weft_cluster_address(const weft_cluster *c, const char *job, int task) {
  API_NEED_OR(c, NULL);
  API_NEED_OR(job, NULL);

  return weft__cluster_address(&c->all, job, task);
}

static const char *cluster_environment(void *arg, const char *name) {
  (void)arg;
  return getenv(name);
}

weft_err weft_role_find(weft_cluster **out, char **job, int *task, int argc, char *const *argv) {
  API_NEED(out);
  API_NEED(job);
  API_NEED(task);
  API_ARRAY(argc, argv);

  role r;
  *out = NULL;
  WEFT_TRY(weft__role_find(&r, argc, argv, cluster_environment, NULL));
  weft_err err = r.cluster.n_job ? cluster_create(out) : WEFT_OK;
  if (err) return weft__role_finish(&r), err;
  if (*out) (*out)->all = r.cluster;
  *job = r.job;
  *task = r.task;
  return WEFT_OK;
}
