/* scratch.c - creates the files that file ops read: a text, a vocabulary, bytes and records. */
#define _XOPEN_SOURCE 700
#include "tests/opfuzz/scratch.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *name, const void *data, size_t size) {
  FILE *f = fopen(name, "wb");
  if (!f || fwrite(data, 1, size, f) != size) {
    printf("cannot write %s\n", name);
    exit(2);
  }
  fclose(f);
}

/* Three records, "abc", "" and "hello", with their masked checksums. */
static const unsigned char records[] = {
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xb0, 0x99, 0x49, 0x0e, 0x61, 0x62, 0x63, 0x6e, 0x57, 0xf1, 0x21,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x29, 0x03, 0x98, 0x07, 0xd8, 0xea, 0x82, 0xa2, 0x05, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0xea, 0xb2, 0x04, 0x3e, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0xbb, 0x1f, 0x1c, 0x19};

void scratch_enter(char *path, size_t room) {
  const char *tmp = getenv("TMPDIR");
  snprintf(path, room, "%s/opfuzz-XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(path) || chdir(path) != 0) {
    printf("cannot make a folder like %s\n", path);
    exit(2);
  }
  put("text.txt", "one\ntwo\nthree\n", 14);
  put("vocab.txt", "a\nb\nc\n", 6);
  put("bytes.bin", "0123456789abcdef", 16);
  put("data.tfrecord", records, sizeof records);
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  return remove(path);
}

void scratch_leave(const char *path) {
  if (chdir("/") == 0) nftw(path, drop, 8, FTW_DEPTH | FTW_PHYS);
}
