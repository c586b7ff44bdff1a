/* role.h - which task of which cluster this process is, found where people put it.
 *
 * In this order: command-line flags, TF_CONFIG, Slurm's environment, MPI's.  Under Slurm and MPI the first
 * WEFT_NUM_PS tasks (1) are ps and the rest workers, and a task's port is WEFT_PORT (8888) plus its rank on its host. */
#ifndef WEFT_CLUSTER_ROLE_H
#define WEFT_CLUSTER_ROLE_H

#include "cluster/spec.h"

typedef struct role {
  cluster cluster; /* empty: nothing was found, a process by itself */
  char *job;
  int task;
} role;

typedef const char *role_env(void *arg, const char *name); /* NULL if unset */

/* --ps_hosts a:1,b:1 (or any --JOB_hosts; also --parameter_servers and --workers), --job_name, --task_index or
 * --task_id; each with one dash or two, with '=' or a space.  Other arguments are left alone.  env: getenv for tests. */
weft_err weft__role_find(role *out, int argc, char *const *argv, role_env *env, void *arg);
void weft__role_finish(role *r);

#endif
