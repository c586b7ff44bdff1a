/* spec.h - the cluster spec: jobs, their tasks, and the address of each task.
 *
 * A cluster is a plain value: the caller initializes and finishes it, and locks it if several threads use it. */
#ifndef WEFT_CLUSTER_SPEC_H
#define WEFT_CLUSTER_SPEC_H

#include "base/status.h"
#include "tf.pb-c.h"

typedef struct cluster_task {
  int index; /* ascending; there may be gaps */
  char *address;
} cluster_task;

typedef struct cluster_job {
  char *name;
  int n_task;
  int64_t capacity; /* of task */
  cluster_task *task;
} cluster_job;

typedef struct cluster { /* jobs in ascending order of their names, as TensorFlow lists them */
  int n_job;
  int64_t capacity; /* of job */
  cluster_job *job;
} cluster;

/* init makes an empty cluster and finish frees its jobs.  copy initializes `to`, which has nothing to free before. */
void weft__cluster_init(cluster *c);
void weft__cluster_finish(cluster *c);
weft_err weft__cluster_copy(cluster *to, const cluster *from);
/* ALREADY_EXISTS for a second address of a task; INVALID_ARGUMENT for a bad name or address. */
weft_err weft__cluster_add(cluster *c, const char *job, int index, const char *address);
/* Adds tasks 0, 1, ... of a job from "host:port,host:port". */
weft_err weft__cluster_add_hosts(cluster *c, const char *job, const char *hosts);
/* The functions below that fill a cluster leave it empty after an error.
 *
 * Parses "ps=host:port,host:port;worker=host:port" (newlines may replace semicolons), or JSON: {"ps": ["host:port"]},
 * also as the "cluster" of a TF_CONFIG. */
weft_err weft__cluster_parse(cluster *c, const char *text);
weft_err weft__cluster_from_def(cluster *c, const Tensorflow__ClusterDef *def);
/* Serializes the cluster as a ClusterDef; the caller frees *out with weft__free. */
weft_err weft__cluster_to_def(const cluster *c, uint8_t **out, size_t *size);
/* Reads TF_CONFIG's JSON.  *job and *task are those of its "task" ("" and -1 if it has none); the caller frees *job
 * with weft__free. */
weft_err weft__cluster_from_tf_config(cluster *c, const char *json, char **job, int *task);
const char *weft__cluster_address(const cluster *c, const char *job, int task); /* borrowed; NULL if there is none */
const cluster_job *weft__cluster_job(const cluster *c, const char *job);        /* borrowed; NULL if there is none */
int weft__cluster_size(const cluster *c);                                       /* the number of tasks of all jobs */
bool weft__cluster_is_loopback(const cluster *c); /* true if only this host reaches the addresses */

/* Splits "host:port" or "[v6]:port"; the host comes without brackets.  INVALID_ARGUMENT names the address. */
#define WEFT_HOST_SIZE 256
weft_err weft__address_split(const char *address, char host[WEFT_HOST_SIZE], int *port);
/* True for localhost and for numeric loopback addresses (127.x.x.x, ::1).  No name is looked up. */
bool weft__host_is_loopback(const char *host);

/* Writes "/job:ps/replica:0/task:0" and returns buf. */
#define WEFT_TASK_NAME_SIZE 128
char *weft__task_name(char *buf, size_t size, const char *job, int task);
/* Writes the short form of a task's name, "ps:0" for "/job:ps/replica:0/task:0", and returns buf. */
const char *weft__task_short(char *buf, size_t size, const char *task);

#endif
