/* launch.h - what the files of `weft launch` share: one task of the local cluster, as its parent sees it. */
#ifndef WEFT_CLI_LAUNCH_H
#define WEFT_CLI_LAUNCH_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { LAUNCH_LINE = 4096, LAUNCH_LAST = 12 };

typedef struct launch_stream { /* one of a task's two outputs */
  int fd;                      /* -1: it has ended */
  FILE *to, *file;             /* this terminal's stream; a file, or NULL */
  char line[LAUNCH_LINE];
  int used;
} launch_stream;

typedef struct launch_task {
  const char *job;
  int index, port;
  int status_port; /* 0: it shows no page */
  pid_t pid;       /* 0: it does not run */
  int restarts;
  int code; /* of its last end; -1: none yet */
  launch_stream out, err;
  char last[LAUNCH_LAST][LAUNCH_LINE]; /* its last lines, a ring */
  int n_last;
  /* read from its lines, with the time of the first step: */
  long step;
  double loss, rate;
  long first_step;
  double first_time;
  double accuracy;
  bool has_step, has_loss, has_accuracy;
} launch_task;

typedef struct launch_look { /* how the lines of all tasks are shown */
  bool color, live;
  int width;      /* of "worker10" */
  char *progress; /* lines at the bottom of the terminal, one per worker; "" if there are none */
  int drawn;      /* how many of these lines the terminal shows now */
} launch_look;

double launch_now(void); /* seconds, monotonic */
/* Starts args (NULL-terminated) with its outputs in pipes; false: errno says why. */
bool launch_start(launch_task *t, char **args);
/* Erase the progress lines at the bottom of the terminal; draw them there. */
void launch_erase(launch_look *look);
void launch_draw(launch_look *look);
/* Reads what a stream has, but at most a megabyte, so that other streams are read too.  Prints, keeps and checks each
 * complete line. */
void launch_read(launch_task *t, launch_stream *s, launch_look *look);
/* Returns true if the process has ended, and sets code: its exit code, or 128 + the signal. */
bool launch_ended(launch_task *t);

#endif
