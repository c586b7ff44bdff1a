/* local.c - the clusters of `weft launch` on this machine, so that `weft top` and `weft check` find them by themselves.
 *
 * Each `weft launch` owns one file, cluster-PID in the folder of this user's files: the cluster on the first line, the
 * program on the second.  It removes the file when it ends.  Any command that reads a file of a process that is gone
 * removes it. */
#include "command.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char recorded[4096]; /* the file of this process; "": none */

void cli_local_record(const char *cluster, const char *program) {
  char in[3000];
  if (!cli_user_folder_make(in, sizeof in)) return; /* `--cluster` names it without a file */
  snprintf(recorded, sizeof recorded, "%s/cluster-%ld", in, (long)getpid());
  unlink(recorded);
  const int fd = open(recorded, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) recorded[0] = 0;
  if (fd >= 0) dprintf(fd, "%s\n%s\n", cluster, program);
  if (fd >= 0) close(fd);
}

void cli_local_forget(void) {
  if (recorded[0]) unlink(recorded);
  recorded[0] = 0;
}

typedef struct newest {
  char path[4096];
  struct timespec at;
  int n;
} newest;

/* Looks at one name of the folder. */
static void local_consider(newest *best, const char *in, const char *name) {
  char path[4096];
  struct stat s;
  int pid;
  if (strncmp(name, "cluster-", 8) != 0 || !cli_number(name + 8, 1, INT_MAX, &pid)) return;
  if ((size_t)snprintf(path, sizeof path, "%s/%s", in, name) >= sizeof path || !cli_is_own(path, S_IFREG)) return;
  if (kill(pid, 0) != 0 && errno == ESRCH) {
    unlink(path);
    return;
  }
  if (stat(path, &s) != 0) return;
  best->n++;
  if (s.st_mtim.tv_sec < best->at.tv_sec ||
      (s.st_mtim.tv_sec == best->at.tv_sec && s.st_mtim.tv_nsec < best->at.tv_nsec))
    return;
  best->at = s.st_mtim;
  memcpy(best->path, path, sizeof path);
}

char *cli_local_find(void) {
  newest best = {.n = 0};
  char in[3000];
  size_t size;
  const char *runtime = getenv("XDG_RUNTIME_DIR"); /* the folder that a launch with this environment records in */
  DIR *d = cli_user_folder_find(in, sizeof in, runtime && *runtime ? 0 : 1) ? opendir(in) : NULL;
  for (const struct dirent *e; d && (e = readdir(d));) local_consider(&best, in, e->d_name);
  if (d) closedir(d);
  char *text = best.n ? cli_read_file(best.path, &size) : NULL, *found = NULL;
  const char *end = text ? memchr(text, '\n', size) : NULL; /* of the cluster; then comes the program */
  if (end) found = strndup(text, (size_t)(end - text));
  if (found && best.n > 1) {
    const size_t left = size - (size_t)(end + 1 - text);
    const char *stop = memchr(end + 1, '\n', left);
    fprintf(stderr,
            "weft %s: %d clusters of 'weft launch' run here; this is the newest, %.*s (--cluster names another)\n",
            cli_current->name, best.n, (int)(stop ? stop - (end + 1) : 0), end + 1);
  }
  free(text);
  return found;
}
