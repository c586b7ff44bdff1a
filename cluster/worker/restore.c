/* restore.c - rejects the other members of a supervised job on this task while the job's chief restores the variables.
 *
 * A chief that restores a checkpoint sets variables on several tasks, one after the other.  Meanwhile a worker's step
 * would see old values on one task and restored ones on another, and its update might reach only some of them.  So the
 * chief first announces it to every task.  Each task drops the sessions of the job's other members, cancels their
 * runs, and rejects their new sessions until the chief is done.  A member whose session was dropped gets ABORTED, as
 * from a task that restarted, and opens another.  Sessions without a role, such as TensorFlow's, are not affected.
 *
 * The lock of state.h guards the tables.  Sessions are dropped and tokens fired without it. */
#include "base/alloc.h"
#include "base/assert.h"
#include "cluster/worker/state.h"

/* Removes a session of another member from the table, or returns NULL.  The lock is held. */
static worker_session *restore_take_session(worker *w, const char *chief) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].key ? w->sessions.entries[i].value : NULL;
    if (!s || s->role == ROLE_NONE || strcmp(s->handle, chief) == 0) continue;
    s->outdated = true;
    return weft__map_remove(&w->sessions, s->handle);
  }
  return NULL;
}

static void restore_drop_sessions(worker *w, const char *chief) {
  worker_session *s;
  do {
    pthread_mutex_lock(&w->lock);
    s = restore_take_session(w, chief);
    pthread_mutex_unlock(&w->lock);
    if (s) weft__worker_session_drop(s);
  } while (s);
}

/* Returns a run of a dropped session that was not canceled yet, or NULL.  *n is the number of such runs that have not
 * ended.  The lock is held. */
static running_part *restore_next_run(worker *w, int *n) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  running_part *found = NULL;
  *n = 0;
  WEFT_LIST_FOR_EACH(link, &w->runs) {
    running_part *u = WEFT_LIST_ITEM(link, running_part, link);
    if (!u->part->session->outdated) continue;
    ++*n;
    if (!found && !u->stopped) found = u;
  }
  return found;
}

static int restore_stop_runs(worker *w) {
  running_part *u;
  int n;
  pthread_mutex_lock(&w->lock);
  while ((u = restore_next_run(w, &n))) {
    u->stopped = true;
    atomic_fetch_add(&u->refs, 1);
    pthread_mutex_unlock(&w->lock);
    weft__cancel_fire(&u->token, WEFT_ABORTED, "The chief restores the variables of %s", w->task->name);
    weft__worker_step_expire(w, u->opts.step);
    weft__running_part_release(u);
    pthread_mutex_lock(&w->lock);
  }
  pthread_mutex_unlock(&w->lock);
  return n;
}

static weft_err restore_begin(worker *w, const char *chief) {
  char *name = weft__strdup(chief);
  if (!name) return WEFT_OOM;
  pthread_mutex_lock(&w->lock);
  char *before = w->restoring;
  w->restoring = name;
  pthread_mutex_unlock(&w->lock);
  weft__free(before);
  return WEFT_OK;
}

weft_err weft__worker_restore(worker *w, const char *chief, bool beginning, int *n_running) {
  *n_running = 0;
  if (beginning) {
    WEFT_TRY(restore_begin(w, chief));
    restore_drop_sessions(w, chief);
    *n_running = restore_stop_runs(w);
    return WEFT_OK;
  }
  pthread_mutex_lock(&w->lock);
  bool ours = w->restoring && strcmp(w->restoring, chief) == 0;
  char *done = ours ? w->restoring : NULL;
  if (ours) w->restoring = NULL;
  pthread_mutex_unlock(&w->lock);
  weft__free(done);
  if (ours) return WEFT_OK;
  return weft__fail(WEFT_ABORTED,
                    "Session %.64s does not restore %s: the task was restarted, or another chief began to restore it",
                    chief, w->task->name);
}

weft_err weft__worker_answer_restore(worker *w, const ProtobufCMessage *request, message *answer) {
  const Weft__RestoreRequest *q = (const Weft__RestoreRequest *)request;
  Weft__RestoreResponse reply = WEFT__RESTORE_RESPONSE__INIT;
  int n_running;
  WEFT_TRY(weft__worker_restore(w, q->session_handle, q->begin, &n_running));
  reply.running = n_running;
  return weft__message_pack(answer, &reply.base);
}
