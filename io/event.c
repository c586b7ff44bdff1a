/* event.c - an events file is a TFRecord file whose name has its start time and host.
 *
 * Two writers that start in the same second and folder (a restart, a worker on the same host) must not share a file.
 * A name is claimed by creating the file; if it is taken, the next second is tried. */
#include "io/event.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "tf.pb-c.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct event_file {
  char *path;
  record_writer *records;
};

static weft_err event_file_claim(char **out, const char *dir, const char *suffix) {
  char host[256] = "localhost";
  long long at = weft__clock_wall_us() / US_PER_S;
  if (gethostname(host, sizeof host - 1) != 0 || !host[0]) host[0] = 'l';
  for (;; at++) {
    char *path = weft__sprintf("%s/events.out.tfevents.%010lld.%s%s", dir, at, host, suffix ? suffix : "");
    const char *local;
    if (!path) return WEFT_OOM;
    weft_err unknown = weft__path_local(path, &local);
    if (unknown) {
      weft__free(path);
      return unknown;
    }
    int fd = open(local, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = errno;
    if (fd >= 0) {
      close(fd);
      *out = path;
      return WEFT_OK;
    }
    weft_err err = error == EEXIST ? WEFT_OK : weft__file_fail(path, error);
    weft__free(path);
    if (err) return err;
  }
}

static weft_err write_version(event_file *f) {
  Tensorflow__Event e = TENSORFLOW__EVENT__INIT;
  char version[] = "brain.Event:2";
  uint8_t packed[64];
  e.wall_time = (double)weft__clock_wall_us() / 1e6;
  e.what_case = TENSORFLOW__EVENT__WHAT_FILE_VERSION;
  e.file_version = version;
  size_t size = tensorflow__event__pack(&e, packed);
  WEFT_TRY(weft__event_write(f, packed, size));
  return weft__event_flush(f);
}

weft_err weft__event_file_create(event_file **out, const char *dir, const char *suffix) {
  event_file *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  weft_err err = weft__dir_create_all(dir);
  if (!err) err = event_file_claim(&f->path, *dir ? dir : ".", suffix);
  if (!err) err = weft__record_writer_create(&f->records, f->path, COMPRESSION_NONE);
  if (!err) err = write_version(f);
  if (err)
    weft__event_file_destroy(f);
  else
    *out = f;
  return err;
}

weft_err weft__event_write(event_file *f, const void *event, size_t size) {
  return weft__record_write(f->records, event, size);
}

weft_err weft__event_flush(event_file *f) { return weft__record_flush(f->records); }

const char *weft__event_file_path(const event_file *f) { return f->path; }

weft_err weft__event_file_destroy(event_file *f) {
  if (!f) return WEFT_OK;
  weft_err err = weft__record_writer_destroy(f->records);
  weft__free(f->path);
  weft__free(f);
  return err;
}
