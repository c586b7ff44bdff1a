/* fuzz_file.h - files for fuzz targets whose subject reads from a path. */
#ifndef WEFT_TESTS_FUZZ_FILE_H
#define WEFT_TESTS_FUZZ_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fuzz_folder[] = "/tmp/weft-fuzz-XXXXXX";
static char fuzz_paths[4][64];
static int fuzz_files;

static void fuzz_clean(void) {
  for (int i = 0; i < fuzz_files; i++) unlink(fuzz_paths[i]);
  rmdir(fuzz_folder);
}

/* The path of file `name` in a folder of this process's own, which goes when the process ends. */
static const char *fuzz_path(const char *name) {
  char path[64];
  if (!fuzz_files) {
    if (!mkdtemp(fuzz_folder)) exit(2);
    atexit(fuzz_clean);
  }
  snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
  for (int i = 0; i < fuzz_files; i++)
    if (strcmp(fuzz_paths[i], path) == 0) return fuzz_paths[i];
  if (fuzz_files == 4) exit(2);
  memcpy(fuzz_paths[fuzz_files], path, sizeof path);
  return fuzz_paths[fuzz_files++];
}

/* Overwrites the file; its path.  Not with O_TRUNC, after which some file systems write to the disk at once. */
static inline const char *fuzz_write(const char *name, const void *data, size_t size) {
  const char *path = fuzz_path(name);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size || ftruncate(fd, (off_t)size) != 0 || close(fd) != 0) exit(2);
  return path;
}

#endif
