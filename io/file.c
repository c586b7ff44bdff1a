/* file.c - POSIX files.  As in TensorFlow, a writer's temporary name is PATH.tempstateN.  The file is locked (flock)
 * until it is renamed, so an unlocked temporary file was left by a killed process. */
#include "io/file.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "io/file_wait.h"
#include <ctype.h>
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 256 << 10 };
#define TEMPORARY ".tempstate"

weft_err weft__file_code(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
  case ENXIO: return WEFT_NOT_FOUND;
  case EEXIST: return WEFT_ALREADY_EXISTS;
  case EACCES:
  case EPERM:
  case EROFS: return WEFT_PERMISSION_DENIED;
  case ENOSPC:
  case EDQUOT:
  case EMFILE:
  case ENFILE:
  case ENOMEM: return WEFT_RESOURCE_EXHAUSTED;
  case EINVAL:
  case ENAMETOOLONG: return WEFT_INVALID_ARGUMENT;
  case EISDIR:
  case ENOTEMPTY:
  case EBUSY: return WEFT_FAILED_PRECONDITION;
  default: return WEFT_UNKNOWN;
  }
}

weft_err weft__file_fail(const char *path, int error) {
  char what[128];
  return weft__fail(weft__file_code(error), "%s; %s", path, strerror_r(error, what, sizeof what));
}

/* Returns the length of "scheme" in "scheme://...", or 0. */
static size_t scheme_length(const char *path) {
  const char *end = path;
  while (isalnum((unsigned char)*end) || (end > path && *end && strchr("+.-", *end))) end++;
  return end > path && isalpha((unsigned char)*path) && strncmp(end, "://", 3) == 0 ? (size_t)(end - path) : 0;
}

/* Names a program that mounts file systems of this scheme as directories. */
static const char *mount_hint(const char *path, size_t n) {
  static const char *const known[][2] = {{"hdfs", "hadoop-fuse-dfs"},
                                         {"viewfs", "hadoop-fuse-dfs"},
                                         {"gs", "gcsfuse"},
                                         {"s3", "mount-s3 or s3fs"},
                                         {"s3a", "mount-s3 or s3fs"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strlen(known[i][0]) == n && strncmp(path, known[i][0], n) == 0) return known[i][1];
  return "FUSE";
}

weft_err weft__path_local(const char *path, const char **local) {
  const size_t n = scheme_length(path);
  *local = path;
  if (n == 0) return WEFT_OK;
  if (n != 4 || strncmp(path, "file", 4) != 0)
    return weft__fail(WEFT_UNIMPLEMENTED,
                      "File system scheme '%.*s' not implemented (file: '%s'): mount it as a directory, for example "
                      "with %s, and give the path there",
                      (int)n /* fits: part of a path */, path, path, mount_hint(path, n));
  const char *slash = strchr(path + n + 3, '/');
  *local = slash ? slash : path + strlen(path);
  return WEFT_OK;
}

/* The same for callers that cannot fail: a path of another file system stays unchanged, and then is not found. */
static const char *local_path(const char *path) {
  const char *local;
  return weft__path_local(path, &local) == WEFT_OK ? local : path;
}

bool weft__file_exists(const char *path) { return access(local_path(path), F_OK) == 0; }

weft_err weft__file_delete(const char *path) {
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  return unlink(local) == 0 ? WEFT_OK : weft__file_fail(path, errno);
}

char *weft__file_dir(const char *path) {
  const char *local = local_path(path), *slash = strrchr(path, '/');
  if (!slash) return weft__strdup(".");
  return slash <= local ? weft__strndup(path, (size_t)(slash - path) + 1) : weft__strndup(path, (size_t)(slash - path));
}

weft_err weft__dir_create(const char *path) {
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  return mkdir(local, 0777) == 0 || errno == EEXIST ? WEFT_OK : weft__file_fail(path, errno);
}

weft_err weft__dir_create_all(const char *path) {
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  char *part = weft__strdup(local);
  if (!part) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (char *c = part + 1; err == WEFT_OK && *part && *c; c++) {
    if (*c != '/') continue;
    *c = 0;
    err = weft__dir_create(part);
    *c = '/';
  }
  if (err == WEFT_OK && *part) err = weft__dir_create(part);
  weft__free(part);
  return err;
}

weft_err weft__dir_sync(const char *path) {
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  int fd = open(local, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return weft__file_fail(path, errno);
  weft_err err = fsync(fd) == 0 || errno == EINVAL ? WEFT_OK : weft__file_fail(path, errno);
  close(fd);
  return err;
}

static bool is_dots(const char *part, size_t n) {
  return (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.');
}

/* Returns true if a wildcard matched "." or "..".  Like TensorFlow, we find other names that begin with a dot. */
static bool matches_dots(const char *pattern, const char *path) {
  for (;;) {
    size_t n = strcspn(pattern, "/"), m = strcspn(path, "/");
    if (is_dots(path, m) && !is_dots(pattern, n)) return true;
    pattern += n;
    path += m;
    if (!*pattern || !*path) return false;
    pattern += strspn(pattern, "/");
    path += strspn(path, "/");
  }
}

/* Returns the prefix that TensorFlow puts before the matches of a pattern whose first component has a wildcard: the
 * folder that it searches. */
static const char *match_folder(const char *local) {
  return *local != '/' && strcspn(local, "*?[") < strcspn(local, "/") ? "./" : "";
}

weft_err weft__file_match(const char *pattern, path_list *out) {
  glob_t g = {0};
  const char *local;
  *out = (path_list){0};
  WEFT_TRY(weft__path_local(pattern, &local));
  const int prefix = weft__int_sat(local - pattern);
  int found = glob(local, GLOB_NOESCAPE | GLOB_PERIOD, NULL, &g);
  if (found != 0) {
    globfree(&g);
    return found == GLOB_NOMATCH ? WEFT_OK : weft__fail(WEFT_UNKNOWN, "%s; cannot be matched", pattern);
  }
  weft_err err = (out->path = weft__alloc_zero(g.gl_pathc, sizeof *out->path)) ? WEFT_OK : WEFT_OOM;
  for (size_t i = 0; err == WEFT_OK && i < g.gl_pathc; i++) {
    if (matches_dots(local, g.gl_pathv[i])) continue;
    if ((out->path[out->n] = weft__sprintf("%.*s%s%s", prefix, pattern, match_folder(local), g.gl_pathv[i])))
      out->n++;
    else
      err = WEFT_OOM;
  }
  globfree(&g);
  if (err != WEFT_OK) weft__path_list_finish(out);
  return err;
}

void weft__path_list_finish(path_list *l) {
  for (int i = 0; i < l->n; i++) weft__free(l->path[i]);
  weft__free(l->path);
  *l = (path_list){0};
}

weft_err weft__file_open(const char *path, int *fd, uint64_t *size) {
  struct stat st;
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  *fd = open(local, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe may have no writer yet (io/file_wait.h) */
  if (*fd < 0) return weft__file_fail(path, errno);
  int error = fstat(*fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
  if (error) {
    close(*fd);
    return weft__file_fail(path, error);
  }
  if (size) *size = (uint64_t)st.st_size;
  return WEFT_OK;
}

weft_err weft__file_read_at(int fd, const char *path, uint64_t offset, void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return weft__file_fail(path, errno);
    if (n == 0)
      return weft__fail(WEFT_OUT_OF_RANGE, "Read less bytes than requested: %s has %zu of the %zu bytes at %llu", path,
                        done, size, (unsigned long long)offset);
    done += (size_t)n;
  }
  return WEFT_OK;
}

bool weft__file_is_unsized(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

weft_err weft__file_read(const char *path, text *out) {
  int fd;
  char chunk[16 << 10];
  WEFT_TRY(weft__file_open(path, &fd, NULL));
  const bool unsized = weft__file_is_unsized(fd);
  weft_err err = WEFT_OK;
  for (uint64_t done = 0; !out->failed;) {
    if (unsized) err = done < UNSIZED_MOST ? weft__file_wait(fd, path) : weft__file_endless(path);
    if (err) break;
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && (errno == EINTR || (unsized && errno == EAGAIN))) continue;
    if (n < 0) err = weft__file_fail(path, errno);
    if (n <= 0) break;
    weft__text_add(out, chunk, (size_t)n);
    done += (uint64_t)n;
  }
  close(fd);
  if (err == WEFT_OK && out->failed) err = weft__fail(WEFT_OOM, "%s does not fit into memory", path);
  return err;
}

/* ---- writing ---- */

struct file_writer {
  char *path, *temporary;
  int fd;
  uint64_t offset;
  size_t held; /* bytes in the buffer that are not written yet */
  status failed;
  bool placed;
  char buffer[BUFFER];
};

/* Creates and locks a file.  Retries if a process that removes stale files has removed it in between.  On file
 * systems without locks, that process cannot lock files either, so it removes none. */
static int open_locked(const char *path) {
  for (;;) {
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0 || st.st_nlink > 0) return fd;
    close(fd);
  }
}

weft_err weft__writer_create(file_writer **out, const char *path) {
  uint64_t random = 0;
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) random = (uint64_t)getpid();
  file_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->fd = -1;
  w->path = weft__strdup(local);
  w->temporary = weft__sprintf("%s" TEMPORARY "%llu", local, (unsigned long long)random);
  weft_err err = w->path && w->temporary ? WEFT_OK : WEFT_OOM;
  if (err == WEFT_OK && (w->fd = open_locked(w->temporary)) < 0) err = weft__file_fail(path, errno);
  if (err == WEFT_OK)
    *out = w;
  else
    weft__writer_destroy(w);
  return err;
}

static void write_out(file_writer *w, const char *data, size_t size) {
  while (size && w->failed.code == WEFT_OK) {
    ssize_t n = write(w->fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      weft__status_update(&w->failed, weft__file_fail(w->temporary, errno));
      return;
    }
    data += n;
    size -= (size_t)n;
  }
}

static void file_flush(file_writer *w) {
  WEFT_ASSERT(w->held <= BUFFER);
  write_out(w, w->buffer, w->held);
  w->held = 0;
}

void weft__writer_append(file_writer *w, const void *data, size_t size) {
  w->offset += size;
  if (w->held + size > BUFFER) file_flush(w);
  if (size >= BUFFER) {
    write_out(w, data, size);
  } else if (size) {
    memcpy(w->buffer + w->held, data, size);
    w->held += size;
    WEFT_ASSERT(w->held <= BUFFER);
  }
}

uint64_t weft__writer_offset(const file_writer *w) { return w->offset; }

weft_err weft__writer_sync(file_writer *w) {
  file_flush(w);
  if (w->failed.code == WEFT_OK && w->fd >= 0) {
    if (fsync(w->fd) != 0) weft__status_update(&w->failed, weft__file_fail(w->temporary, errno));
  }
  return weft__status_raise(&w->failed);
}

weft_err weft__writer_place(file_writer *w) {
  WEFT_ASSERT(!w->placed && w->held == 0); /* synced before */
  if (rename(w->temporary, w->path) != 0) return weft__file_fail(w->path, errno);
  w->placed = true;
  return WEFT_OK;
}

void weft__writer_destroy(file_writer *w) {
  if (!w) return;
  if (w->fd >= 0) close(w->fd);
  if (!w->placed && w->temporary) unlink(w->temporary);
  weft__free(w->path);
  weft__free(w->temporary);
  weft__status_finish(&w->failed);
  weft__free(w);
}

weft_err weft__file_write(const char *path, const void *data, size_t size) {
  file_writer *w = NULL;
  char *dir = weft__file_dir(path);
  weft_err err = dir ? weft__writer_create(&w, path) : WEFT_OOM;
  if (err == WEFT_OK) {
    weft__writer_append(w, data, size);
    err = weft__writer_sync(w);
  }
  if (err == WEFT_OK) err = weft__writer_place(w);
  if (err == WEFT_OK) err = weft__dir_sync(dir);
  weft__writer_destroy(w);
  weft__free(dir);
  return err;
}

/* ---- files that killed writers left ---- */

/* Returns true for a name such as "NAME.tempstate123". */
static bool is_temporary(const char *name) {
  const char *at = strstr(name, TEMPORARY);
  if (!at || at == name) return false;
  at += sizeof TEMPORARY - 1;
  return *at && strspn(at, "0123456789") == strlen(at);
}

static void remove_if_left(int dir, const char *name) {
  int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(dir, name, 0);
  close(fd);
}

static void sweep_open(int fd, bool below) {
  DIR *d = fdopendir(fd);
  if (!d) {
    close(fd);
    return;
  }
  for (const struct dirent *e; (e = readdir(d));) {
    if (is_temporary(e->d_name)) remove_if_left(dirfd(d), e->d_name);
    if (!below || !strstr(e->d_name, "_temp_")) continue;
    int inside = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (inside >= 0) sweep_open(inside, false);
  }
  closedir(d);
}

void weft__file_sweep(const char *dir) {
  int fd = open(local_path(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) sweep_open(fd, true);
}
