/* queue_runner.h - threads that keep a queue filled: one for each enqueue op, until the data or the program ends. */
#ifndef WEFT_TRAIN_SESSION_QUEUE_RUNNER_H
#define WEFT_TRAIN_SESSION_QUEUE_RUNNER_H

#include "exec/session.h"
#include "weft/train.h"

/* Adds the ops that close the queue, and a QueueRunnerDef to a collection (NULL: "queue_runners").  If an enqueue op
 * is listed several times, as many threads run it. */
weft_err weft__queue_runner_add(weft_graph *g, weft_out queue, int n, const weft_out *enqueue, const char *list);
/* Starts the threads of every runner in a collection (NULL: "queue_runners"); *started may be NULL.  The session
 * must outlive them: stop and join the coordinator first. */
weft_err weft__queue_runners_start(weft_session *sess, weft_coordinator *c, const char *list, int *started);
/* Starts the threads of one serialized QueueRunnerDef. */
weft_err weft__queue_runner_start(weft_session *sess, weft_coordinator *c, const void *def, size_t size, int *started);

#endif
