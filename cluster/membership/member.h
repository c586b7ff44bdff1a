/* member.h - who of the cluster is there, who waits in `join`, who has left: so that a job ends by itself.
 *
 * Weft tasks tell each other in the greetings of peer.h.  `join` returns when every other task has been
 * seen and is settled (in `join` with its sessions idle, or a bare server) or has left, this one is settled
 * too, and somebody has run a session through its own server. */
#ifndef WEFT_CLUSTER_MEMBERSHIP_MEMBER_H
#define WEFT_CLUSTER_MEMBERSHIP_MEMBER_H

#include "cluster/membership/peer.h"

typedef enum member_state { /* the numbers travel */
                            MEMBER_RUNNING = 0,
                            MEMBER_JOINING = 1, /* in `join`, but its sessions are at work */
                            MEMBER_JOINED = 2,
                            MEMBER_SERVING = 3, /* a bare task: stays until it is told */
                            MEMBER_LEFT = 4
} member_state;

typedef struct members members;

typedef struct member_hooks { /* called without a lock, at any time between create and destroy; must not block */
  void *arg;
  bool (*idle)(void *arg);                   /* have the sessions of this server been idle for a while? */
  bool (*ran)(void *arg);                    /* has this program run a session through its own server? */
  int (*worker_sessions)(void *arg);         /* how many sessions of any master are open on this task */
  void (*lost)(void *arg, const char *task); /* it died, left or was restarted */
  /* What earlier processes of a task left is nobody's: this one is there instead (0: it said goodbye). */
  void (*replaced)(void *arg, const char *task, uint64_t incarnation);
} member_hooks;

/* The peers outlive it and tell it what they hear.  incarnation: this process's. */
weft_err weft__members_create(members **out, peers *p, uint64_t incarnation, bool serve, const member_hooks *hooks);
void weft__members_destroy(members *m);
const char *weft__member_state_name(member_state s); /* "running", "in join", "done", "serving", "left" */
member_state weft__members_own(members *m);          /* this task's */
/* What is known of the i-th task of the peers: a state's name, "TensorFlow", "lost" or "not seen". */
const char *weft__members_word(members *m, int i);
/* Answers "/weft.Peer/Hello". */
void weft__member_handle(members *m, call *c);
/* CANCELLED when interrupted; DEADLINE_EXCEEDED names those who died or never came within WEFT_JOIN_TIMEOUT seconds
 * (1800 if unset; 0: for ever) after everybody else was done.  A bare server returns only when interrupted. */
weft_err weft__members_join(members *m);
/* This task is the chief of a supervised job: once it has said goodbye the job is over. */
void weft__members_set_chief(members *m);
/* The program ends with a failure: its goodbye will say that it may be started again. */
void weft__members_set_failed(members *m);
/* Tells everybody that this task leaves; takes at most half a second. */
void weft__members_goodbye(members *m);

#endif
