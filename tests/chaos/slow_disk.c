/* slow_disk.c - a slow disk for the chaos campaign, preloaded into a task (LD_PRELOAD).
 *
 * While the file that CHAOS_SLOW_DISK names exists, every fsync, fdatasync and rename takes as many milliseconds longer
 * as the file says: what a task waits for when a disk is overloaded. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void be_slow(void) {
  const char *path = getenv("CHAOS_SLOW_DISK");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  char text[16] = "";
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  long ms = n > 0 ? strtol(text, NULL, 10) : 0;
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  if (ms > 0) nanosleep(&pause, NULL);
}

typedef int fd_fn(int);
typedef int path_fn(const char *, const char *);

int fsync(int fd) {
  fd_fn *next = (fd_fn *)dlsym(RTLD_NEXT, "fsync");
  be_slow();
  return next ? next(fd) : -1;
}

int fdatasync(int fd) {
  fd_fn *next = (fd_fn *)dlsym(RTLD_NEXT, "fdatasync");
  be_slow();
  return next ? next(fd) : -1;
}

int rename(const char *from, const char *to) {
  path_fn *next = (path_fn *)dlsym(RTLD_NEXT, "rename");
  be_slow();
  return next ? next(from, to) : -1;
}
