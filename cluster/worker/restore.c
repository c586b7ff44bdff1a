/* restore.c - keeps the workers of a supervised job off this task while its chief sets the variables.
 *
 * A chief that restores a checkpoint sets variables on several tasks, one after the other.  A worker's step in between
 * would compute with one task set back and another not, and an update that is under way would reach only some of them.
 * So the chief first tells every task; each drops the sessions of the job's other members and ends their runs, and
 * refuses new ones until the chief is done.  A member whose session was dropped hears ABORTED, as from a task that
 * restarted, and opens another.  Sessions that say nothing of a role, TensorFlow's among them, are left alone. */
#include "base/alloc.h"
#include "cluster/worker/state.h"

/* With the lock held: another member's session, taken off the table. */
static worker_session *take_member(worker *w, const char *chief) {
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].key ? w->sessions.entries[i].value : NULL;
    if (!s || s->role == ROLE_NONE || strcmp(s->handle, chief) == 0) continue;
    s->outdated = true;
    return weft__map_remove(&w->sessions, s->handle);
  }
  return NULL;
}

static void drop_members(worker *w, const char *chief) {
  worker_session *s;
  do {
    pthread_mutex_lock(&w->lock);
    s = take_member(w, chief);
    pthread_mutex_unlock(&w->lock);
    if (s) weft__worker_session_drop(s);
  } while (s);
}

/* With the lock held: a run of a dropped session that was not told to end yet; counts those that have not ended. */
static running *next_outdated(worker *w, int *n) {
  running *found = NULL;
  *n = 0;
  for (running *u = w->runs.next; u != &w->runs; u = u->next) {
    if (!u->part->session->outdated) continue;
    ++*n;
    if (!found && !u->stopped) found = u;
  }
  return found;
}

static int stop_outdated(worker *w) {
  running *u;
  int n;
  pthread_mutex_lock(&w->lock);
  while ((u = next_outdated(w, &n))) {
    u->stopped = true;
    atomic_fetch_add(&u->refs, 1);
    pthread_mutex_unlock(&w->lock);
    weft__cancel_fire(&u->token, WEFT_ABORTED, "The chief restores the variables of %s", w->task->name);
    weft__worker_step_doom(w, u->asked.step);
    weft__running_release(u);
    pthread_mutex_lock(&w->lock);
  }
  pthread_mutex_unlock(&w->lock);
  return n;
}

static weft_err begin(worker *w, const char *chief) {
  char *name = weft__strdup(chief);
  if (!name) return WEFT_OOM;
  pthread_mutex_lock(&w->lock);
  char *before = w->restoring;
  w->restoring = name;
  pthread_mutex_unlock(&w->lock);
  weft__free(before);
  return WEFT_OK;
}

weft_err weft__worker_restore(worker *w, const char *chief, bool beginning, int *running_still) {
  *running_still = 0;
  if (beginning) {
    WEFT_TRY(begin(w, chief));
    drop_members(w, chief);
    *running_still = stop_outdated(w);
    return WEFT_OK;
  }
  pthread_mutex_lock(&w->lock);
  bool ours = w->restoring && strcmp(w->restoring, chief) == 0;
  char *done = ours ? w->restoring : NULL;
  if (ours) w->restoring = NULL;
  pthread_mutex_unlock(&w->lock);
  weft__free(done);
  if (ours) return WEFT_OK;
  return weft__fail(WEFT_ABORTED, "Session %.64s restores nothing on %s: the task was restarted, or another chief came",
                    chief, w->task->name);
}

weft_err weft__worker_answer_restore(worker *w, const ProtobufCMessage *request, message *answer) {
  const Weft__RestoreRequest *q = (const Weft__RestoreRequest *)request;
  Weft__RestoreResponse reply = WEFT__RESTORE_RESPONSE__INIT;
  int left;
  WEFT_TRY(weft__worker_restore(w, q->session_handle, q->begin, &left));
  reply.running = left;
  return weft__message_pack(answer, &reply.base);
}
