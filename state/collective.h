/* collective.h - membership in collective ops: groups of devices, and the instances of ops in a group.
 *
 * A group has a key and a size.  It is complete when that many devices have joined it.  Then each has a rank, and
 * the group never changes.  An instance is one collective op of a group.  In a cluster one task, the leader,
 * completes groups and instances; the other tasks ask it once and keep the answer.  Without a leader each task
 * completes its own.
 *
 * The table is a resource of the task.  Any thread may call these functions.  Callbacks run without the lock,
 * perhaps before the call returns. */
#ifndef WEFT_STATE_COLLECTIVE_H
#define WEFT_STATE_COLLECTIVE_H

#include "base/timer.h"
#include "state/resource.h"

typedef struct collectives collectives;

/* TensorFlow's numbers, which the calls carry. */
typedef enum collective_type {
  COLLECTIVE_REDUCE,
  COLLECTIVE_BROADCAST,
  COLLECTIVE_GATHER,
  COLLECTIVE_PERMUTE,
  COLLECTIVE_ALL_TO_ALL,
  COLLECTIVE_REDUCE_SCATTER
} collective_type;

typedef struct collective_member {
  char *device; /* its full name */
  int task;     /* position of its task among the tasks of the group; set when the group is complete */
  uint64_t incarnation;
  void *attributes; /* its serialized DeviceAttributes; NULL: not known */
  size_t attributes_size;
} collective_member;

typedef struct collective_group { /* constant */
  object base;
  int32_t key;
  char *device_type;
  int size, n_task;
  collective_member *member; /* by rank: sorted by device name, so that the devices of a task are adjacent */
} collective_group;

typedef struct collective_join { /* borrowed for the call, with everything that it points to */
  int32_t group_key, group_size;
  const char *device_type;
  collective_member member; /* the device that joins */
  /* Of an instance: */
  int32_t instance_key;
  int type; /* collective_type */
  weft_dtype dtype;
  shape shape;
  bool is_source;
  const char *name; /* of the op, for the leader's messages */
  int n_subdiv;
  const int64_t *subdiv_offset;
} collective_join;

/* On success *group is borrowed for the call: retain it to keep it. */
typedef void collective_group_fn(void *arg, weft_err err, collective_group *group);
/* source_rank: of a broadcast; -1 for other types. */
typedef void collective_instance_fn(void *arg, weft_err err, int source_rank);

/* Functions with which a task asks the leader.  Both call fn exactly once, and copy what they keep of j. */
typedef struct collective_remote {
  void (*group)(void *arg, const collective_join *j, cancel *c, collective_group_fn *fn, void *fn_arg);
  void (*instance)(void *arg, const collective_join *j, cancel *c, collective_instance_fn *fn, void *fn_arg);
  /* Fills in the incarnation and the attributes of a device of this task.  The caller frees the attributes. */
  weft_err (*describe)(void *arg, collective_member *m);
  void *arg;
} collective_remote;

/* Finds the task's table or creates it; the caller owns a reference. */
weft_err weft__collectives_get(resources *r, collectives **out);
void weft__collectives_release(collectives *c);
/* Sets how to ask the leader; it is copied.  NULL: this task is the leader, or there is none. */
void weft__collectives_set_remote(collectives *c, const collective_remote *remote);
void weft__collectives_set_describe(collectives *c, const collective_remote *remote); /* only `describe` and `arg` */
/* Stores timers for timeouts, which live as long as the table.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__collectives_timers(collectives *c, timers **out);

/* Calls fn when the group is complete.  for_leader: the request comes from another task, and this task answers it as
 * the leader.  The token may be NULL.  fn gets INTERNAL if the group has another size. */
void weft__collective_join_group(collectives *c, const collective_join *j, bool for_leader, cancel *token,
                                 collective_group_fn *fn, void *arg);
/* Calls fn when the instance is complete; a broadcast is complete when all members have joined.  fn gets INTERNAL or
 * INVALID_ARGUMENT if another member has another type or shape. */
void weft__collective_join_instance(collectives *c, const collective_group *g, const collective_join *j,
                                    bool for_leader, cancel *token, collective_instance_fn *fn, void *arg);
/* Creates a complete group.  Takes ownership of the members' strings and attributes, also on failure. */
weft_err weft__collective_group_create(collective_group **out, int32_t key, const char *device_type, int n,
                                       collective_member *member);
void weft__collective_group_release(collective_group *g);               /* NULL is allowed */
int weft__collective_rank(const collective_group *g, const char *name); /* -1: it is no member */

/* Step ids of runs that different masters start but that belong together: every run of a graph key has the same id
 * on all tasks.  Returns the id of the next run; *known is false if the leader has to be asked. */
int64_t weft__collective_next_step(collectives *c, int64_t graph_key, bool *known);
void weft__collective_set_next_step(collectives *c, int64_t graph_key, int64_t id);
/* The same on the leader, which creates the id at the first call. */
int64_t weft__collective_make_next_step(collectives *c, int64_t graph_key);
/* Reports that a run of this id has ended.  failed: the leader is asked for the next id again. */
void weft__collective_end_step(collectives *c, int64_t graph_key, int64_t id, bool failed);
bool weft__collectives_is_leader(collectives *c);

#endif
