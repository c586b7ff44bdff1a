/* fuzz.c - feeds a fuzz target without libFuzzer: the committed corpus, then mutations of it.
 *
 *     fuzz.NAME [RUNS] FILE...
 *
 * A target is a *_fuzz.c beside the code, written for libFuzzer.  Every build runs it this way for a
 * fixed number of runs from a fixed seed, so that the sanitizers see bad input each time; a build with
 * -DWEFT_FUZZ=ON (clang) links the same file with libFuzzer for long campaigns. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
  uint8_t *data;
  size_t size;
} bytes;

enum { GROWTH = 64 }; /* a mutation makes a file at most this much longer */

static uint64_t seed = 0x9E3779B97F4A7C15u;

/* A number below n (xorshift). */
static size_t below(size_t n) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return n ? (size_t)(seed % n) : 0;
}

static bytes read_file(const char *path) {
  bytes b = {0};
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) {
    perror(path);
    exit(2);
  }
  b.size = (size_t)ftell(f);
  b.data = malloc(b.size + 1);
  rewind(f);
  if (!b.data || fread(b.data, 1, b.size, f) != b.size) {
    perror(path);
    exit(2);
  }
  fclose(f);
  return b;
}

/* One change of m, which has room for GROWTH more bytes; `other` lends a piece. */
static void mutate(bytes *m, const bytes *other) {
  size_t at = below(m->size + 1), n = 1 + below(16);
  switch (below(6)) {
  case 0: /* a bit */
    if (at < m->size) m->data[at] ^= (uint8_t)(1u << below(8));
    break;
  case 1: /* a byte: often a limit */
    if (at < m->size) m->data[at] = (uint8_t[]){0, 1, 0x7f, 0x80, 0xff, (uint8_t)below(256)}[below(6)];
    break;
  case 2: /* cut short */ m->size = at; break;
  case 3: /* a piece removed */
    if (at + n <= m->size) {
      memmove(m->data + at, m->data + at + n, m->size - at - n);
      m->size -= n;
    }
    break;
  case 4: /* a piece of noise put in */
    memmove(m->data + at + n, m->data + at, m->size - at);
    for (size_t i = 0; i < n; i++) m->data[at + i] = (uint8_t)below(256);
    m->size += n;
    break;
  case 5: /* a piece of another file over this one */
    for (size_t i = 0, from = below(other->size); i < n && at + i < m->size && from + i < other->size; i++)
      m->data[at + i] = other->data[from + i];
    break;
  }
}

/* The buffer is made for each run at its exact size, so that reading one byte too many is seen. */
static void run_mutant(const bytes *files, size_t n) {
  const bytes *from = &files[below(n)];
  bytes m = {malloc(from->size + GROWTH), from->size};
  if (!m.data) exit(2);
  memcpy(m.data, from->data, m.size);
  for (size_t i = 1 + below(4); i > 0; i--) mutate(&m, &files[below(n)]);
  uint8_t *exact = malloc(m.size ? m.size : 1);
  if (!exact) exit(2);
  memcpy(exact, m.data, m.size);
  free(m.data);
  LLVMFuzzerTestOneInput(exact, m.size);
  free(exact);
}

int main(int argc, char **argv) {
  long runs = argc > 1 ? atol(argv[1]) : 0;
  size_t n = argc > 2 ? (size_t)argc - 2 : 0;
  bytes *files = calloc(n + 1, sizeof *files);
  if (!files || n == 0) {
    fprintf(stderr, "usage: %s RUNS FILE...\n", argv[0]);
    return 2;
  }
  for (size_t i = 0; i < n; i++) {
    files[i] = read_file(argv[i + 2]);
    LLVMFuzzerTestOneInput(files[i].data, files[i].size);
  }
  for (long i = 0; i < runs; i++) run_mutant(files, n);
  printf("%zu files and %ld mutants: no crash\n", n, runs);
  for (size_t i = 0; i < n; i++) free(files[i].data);
  free(files);
  return 0;
}
