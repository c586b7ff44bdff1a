/* cluster.h - who is in a cluster: jobs, their tasks, and the address of each. */
#ifndef WEFT_DIST_CLUSTER_H
#define WEFT_DIST_CLUSTER_H

#include "base/status.h"
#include "tf.pb-c.h"

typedef struct cluster_task {
  int index; /* sparse: indices may have gaps; ascending */
  char *address;
} cluster_task;

typedef struct cluster_job {
  char *name;
  int n_task;
  cluster_task *task;
} cluster_job;

typedef struct cluster { /* jobs in ascending order of name, as TF enumerates them */
  int n_job;
  cluster_job *job;
} cluster;

void weft__cluster_init(cluster *c);
void weft__cluster_finish(cluster *c);
weft_err weft__cluster_copy(cluster *to, const cluster *from);
/* ALREADY_EXISTS for a second address of the same task; INVALID_ARGUMENT for bad names and addresses. */
weft_err weft__cluster_add(cluster *c, const char *job, int index, const char *address);
/* Tasks 0, 1, ... of a job from "host:port,host:port". */
weft_err weft__cluster_add_hosts(cluster *c, const char *job, const char *hosts);
/* "ps=host:port,host:port;worker=host:port" */
weft_err weft__cluster_parse(cluster *c, const char *text);
weft_err weft__cluster_from_def(cluster *c, const Tensorflow__ClusterDef *def);
/* TF_CONFIG's JSON; job and task are what its "task" says ("" and -1: nothing).  *job is weft__free'd by the caller. */
weft_err weft__cluster_from_tf_config(cluster *c, const char *json, char **job, int *task);
const char *weft__cluster_address(const cluster *c, const char *job, int task); /* NULL if there is none */
int weft__cluster_size(const cluster *c);                                       /* tasks of all jobs */

/* "/job:ps/replica:0/task:0"; returns buf. */
#define WEFT_TASK_NAME_SIZE 128
char *weft__task_name(char *buf, size_t size, const char *job, int task);

#endif
