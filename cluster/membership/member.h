/* member.h - which tasks of the cluster are alive, which wait in `join`, which have left.  So a job ends by itself.
 *
 * Weft tasks tell each other their states in the greetings of peer.h.  A task is finished when it is in `join` and its
 * sessions are idle, or when it is a bare server.  `join` returns when three things hold: this task is finished; every
 * other task has been seen and is finished or has left; some task has run a session through its own server.
 *
 * Functions may be called from any thread.  The server owns the membership. */
#ifndef WEFT_CLUSTER_MEMBERSHIP_MEMBER_H
#define WEFT_CLUSTER_MEMBERSHIP_MEMBER_H

#include "cluster/membership/peer.h"

typedef enum member_state { /* the numbers are sent in greetings */
                            MEMBER_RUNNING = 0,
                            MEMBER_JOINING = 1, /* in `join`, but its sessions are not idle */
                            MEMBER_JOINED = 2,
                            MEMBER_SERVING = 3, /* a bare server: stays until it is interrupted */
                            MEMBER_LEFT = 4
} member_state;

typedef struct members members;

typedef struct member_hooks { /* called without a lock, at any time between create and destroy; must not block */
  void *arg;
  bool (*idle)(void *arg);                   /* true if the sessions of this server have been idle for IDLE_S (5 s) */
  bool (*ran)(void *arg);                    /* true if this program has run a session through its own server */
  int (*worker_sessions)(void *arg);         /* the number of sessions of any master that are open on this task */
  void (*lost)(void *arg, const char *task); /* the task died, left or was restarted */
  /* Earlier processes of the task are gone: the one with this incarnation replaced them (0: it said goodbye). */
  void (*replaced)(void *arg, const char *task, uint64_t incarnation);
} member_hooks;

/* Creates the membership and installs itself as the hooks of the peers.  Destroy the peers first, so that no hook is
 * called any more.  incarnation is that of this process.  serve: this task is a bare server, without a program of its
 * own.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__members_create(members **out, peers *p, uint64_t incarnation, bool serve, const member_hooks *hooks);
void weft__members_destroy(members *m);              /* after the peers were destroyed; NULL is allowed */
const char *weft__member_state_name(member_state s); /* "running", "serving", "idle" or "done" */
member_state weft__members_own_state(members *m);    /* the state of this task */
/* Returns the state of the i-th task of the peers as a text: a state's name, "TensorFlow", "lost" or "not seen". */
const char *weft__members_state_text(members *m, int i);
/* Answers "/weft.Peer/Hello"; UNIMPLEMENTED for other methods.  Does not block. */
void weft__members_handle(members *m, call *c);
/* Waits until the job is over.  CANCELLED if interrupted.  DEADLINE_EXCEEDED names the tasks that died or never came,
 * WEFT_JOIN_TIMEOUT seconds (1800 if not set; 0: no limit) after everything else was finished.  On a bare server it
 * returns only when interrupted. */
weft_err weft__members_join(members *m);
/* Marks this task as the chief of a supervised job: its goodbye ends the job. */
void weft__members_set_chief(members *m);
/* Marks the program as failed: its goodbye will say that the task may be started again. */
void weft__members_set_failed(members *m);
/* Tells the other tasks that this one leaves.  Waits for their answers, at most half a second. */
void weft__members_goodbye(members *m);

#endif
