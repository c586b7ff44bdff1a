/* private.c - the token of `weft launch --private`, and where `weft top` and `weft check` find it.
 *
 * The token is in a file of mode 0600, in a folder of mode 0700; both belong to this user.  The file has a link for the
 * port of every task, token-PORT.  A folder of another user, or one that others may enter, is not used. */
#include "command.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_BYTES = 16, FOLDERS = 2 };

/* Writes the i-th folder that may hold tokens.  Returns false if there is none. */
static bool user_folder(char *to, size_t room, int i) {
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  int n = 0;
  if (i == 0 && runtime && *runtime)
    n = snprintf(to, room, "%s/weft", runtime);
  else if (i == 1)
    n = snprintf(to, room, "/tmp/weft-%u", (unsigned)geteuid());
  return n > 0 && (size_t)n < room;
}

bool cli_is_own(const char *path, mode_t type) {
  struct stat s;
  return lstat(path, &s) == 0 && (s.st_mode & S_IFMT) == type && s.st_uid == geteuid() && !(s.st_mode & 077);
}

static bool write_token(const char *path) {
  unsigned char random[TOKEN_BYTES];
  char text[2 * TOKEN_BYTES + 2];
  if (getrandom(random, sizeof random, 0) != sizeof random) return false;
  for (int i = 0; i < TOKEN_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", random[i]);
  text[2 * TOKEN_BYTES] = '\n';
  unlink(path); /* a launch that was killed may have left its file */
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1;
  if (fd >= 0) close(fd);
  return written;
}

static bool private_name_of(char *to, size_t room, const char *in, int port) {
  const int n = snprintf(to, room, "%s/token-%d", in, port);
  return n > 0 && (size_t)n < room;
}

bool cli_user_folder_make(char *to, size_t room) {
  errno = ENOENT;
  for (int i = 0; i < FOLDERS; i++)
    if (user_folder(to, room, i) && (mkdir(to, 0700) == 0 || errno == EEXIST) && cli_is_own(to, S_IFDIR)) return true;
  return false;
}

bool cli_user_folder_find(char *to, size_t room, int i) {
  return i < FOLDERS && user_folder(to, room, i) && cli_is_own(to, S_IFDIR);
}

bool cli_private_make(char *path, size_t room, int port) {
  char in[3000];
  return cli_user_folder_make(in, sizeof in) && private_name_of(path, room, in, port) && write_token(path);
}

bool cli_private_link(const char *path, int port) {
  char in[3000], name[4096];
  const char *slash = strrchr(path, '/');
  snprintf(in, sizeof in, "%.*s", (int)(slash - path), path);
  if (!private_name_of(name, sizeof name, in, port)) return false;
  unlink(name);
  return link(path, name) == 0;
}

void cli_private_remove(const char *path, int port) {
  char in[3000], name[4096];
  const char *slash = strrchr(path, '/');
  snprintf(in, sizeof in, "%.*s", (int)(slash - path), path);
  if (private_name_of(name, sizeof name, in, port)) unlink(name);
}

/* Finds the file for the task at this loopback address.  Returns false if there is none. */
static bool find_file(char *path, size_t room, const char *address) {
  static const char *const local[] = {"localhost:", "127.0.0.1:", "[::1]:"};
  char in[3000];
  int port;
  for (int i = 0; i < 3; i++) {
    const size_t n = strlen(local[i]);
    if (strncmp(address, local[i], n) != 0 || !cli_number(address + n, 1, 65535, &port)) continue;
    for (int k = 0; k < FOLDERS; k++)
      if (cli_user_folder_find(in, sizeof in, k) && private_name_of(path, room, in, port) && cli_is_own(path, S_IFREG))
        return true;
  }
  return false;
}

void cli_private_find(const weft_cluster *c) {
  char path[4096];
  const char *token = getenv("WEFT_TOKEN"), *file = getenv("WEFT_TOKEN_FILE");
  if ((token && *token) || (file && *file)) return;
  for (int j = 0; j < weft_cluster_job_count(c); j++) {
    const char *job = weft_cluster_job(c, j);
    for (int i = 0; i < weft_cluster_task_count(c, job); i++)
      if (find_file(path, sizeof path, weft_cluster_address(c, job, weft_cluster_task(c, job, i)))) {
        setenv("WEFT_TOKEN_FILE", path, 1);
        return;
      }
  }
}

bool cli_has_credentials(void) {
  static const char *const one[] = {"WEFT_TOKEN", "WEFT_TOKEN_FILE", "WEFT_TLS_CERT"};
  for (int i = 0; i < 3; i++) {
    const char *text = getenv(one[i]);
    if (text && *text) return true;
  }
  return false;
}
