/* spec.h - who is in a cluster: jobs, their tasks, and the address of each. */
#ifndef WEFT_CLUSTER_SPEC_H
#define WEFT_CLUSTER_SPEC_H

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
/* "ps=host:port,host:port;worker=host:port" (lines will do for semicolons), or JSON: {"ps": ["host:port"]}, also as the
 * "cluster" of a TF_CONFIG. */
weft_err weft__cluster_parse(cluster *c, const char *text);
weft_err weft__cluster_from_def(cluster *c, const Tensorflow__ClusterDef *def);
weft_err weft__cluster_to_def(const cluster *c, uint8_t **out, size_t *size); /* serialised; weft__free */
/* TF_CONFIG's JSON; job and task are what its "task" says ("" and -1: nothing).  *job is weft__free'd by the caller. */
weft_err weft__cluster_from_tf_config(cluster *c, const char *json, char **job, int *task);
const char *weft__cluster_address(const cluster *c, const char *job, int task); /* NULL if there is none */
const cluster_job *weft__cluster_job(const cluster *c, const char *job);        /* NULL if there is none */
int weft__cluster_size(const cluster *c);                                       /* tasks of all jobs */
bool weft__cluster_is_loopback(const cluster *c); /* is every address one that only this host reaches? */

/* "host:port" or "[v6]:port" apart: the host without brackets.  INVALID_ARGUMENT says which address. */
#define WEFT_HOST_SIZE 256
weft_err weft__address_split(const char *address, char host[WEFT_HOST_SIZE], int *port);
bool weft__host_is_loopback(const char *host); /* localhost, or an address in numbers: 127.x.x.x, ::1 */

/* "/job:ps/replica:0/task:0"; returns buf. */
#define WEFT_TASK_NAME_SIZE 128
char *weft__task_name(char *buf, size_t size, const char *job, int task);
/* "/job:ps/replica:0/task:0" as people say it: "ps:0".  Returns buf. */
const char *weft__task_short(char *buf, size_t room, const char *task);

#endif
