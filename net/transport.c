/* transport.c - holds the process's loop group, and lets callers that wait poll it.
 *
 * The group exists while it has users.  It is destroyed without the lock, since its threads may take the lock in a
 * callback until they have ended; a new user then gets a new group.
 *
 * Lock: `lock` over the whole object.  Waking a poller under it keeps the group from being destroyed meanwhile. */
#include "net/transport.h"
#include "net/process.h"
#include "net/rpc.h"
#include <pthread.h>

static struct transport {
  pthread_mutex_t lock; /* guards what follows */
  int users;
  loop_group *loops; /* NULL: no users */
  pid_t pid;         /* the process that started the loops: their threads do not survive a fork */
} transport = {.lock = PTHREAD_MUTEX_INITIALIZER};

weft_err weft__transport_retain_loops(loop_group **out) {
  weft_err err = WEFT_OK;
  *out = NULL;
  pthread_mutex_lock(&transport.lock);
  if (transport.users == 0) {
    transport.pid = weft__process_id();
    err = weft__loop_group_create(&transport.loops);
  }
  if (!err && transport.pid != weft__process_id())
    err = weft__fail(WEFT_FAILED_PRECONDITION, "The network was started before this process was forked");
  if (!err) {
    transport.users++;
    *out = transport.loops;
  }
  pthread_mutex_unlock(&transport.lock);
  return err;
}

void weft__transport_release_loops(loop_group *g) {
  pthread_mutex_lock(&transport.lock);
  bool last = --transport.users == 0;
  if (last) transport.loops = NULL;
  pthread_mutex_unlock(&transport.lock);
  if (last) weft__loop_group_destroy(g);
}

/* Retains the loops for one more user, and returns them; NULL if they do not run in this process. */
static loop_group *transport_retain_running(void) {
  loop_group *loops = NULL;
  pthread_mutex_lock(&transport.lock);
  if (transport.users > 0 && transport.pid == weft__process_id()) {
    transport.users++;
    loops = transport.loops;
  }
  pthread_mutex_unlock(&transport.lock);
  return loops;
}

bool weft__rpc_event_wait(sync_event *g, int64_t for_ns) {
  loop_group *loops = transport_retain_running();
  bool open = false, polled = loops && weft__loop_poll_until(loops, g, for_ns, &open);
  if (loops) weft__transport_release_loops(loops);
  return polled ? open : weft__sync_event_wait(g, for_ns);
}

void weft__rpc_event_set(sync_event *g) {
  if (!weft__sync_event_set(g)) return; /* nobody polls for it; g may be gone */
  pthread_mutex_lock(&transport.lock);
  if (transport.loops) weft__loop_wake_poller(transport.loops);
  pthread_mutex_unlock(&transport.lock);
}
