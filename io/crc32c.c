/* crc32c.c - CRC32C with the processor's CRC instruction if it has one, otherwise with eight tables.
 *
 * The instruction has a latency of three cycles and a throughput of one per cycle.  So three stretches of a long
 * input are processed in parallel and combined: appending n zero bytes to a CRC is a linear map, which is stored as
 * a table. */
#include "io/crc32c.h"

#include <pthread.h>
#include <string.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u
enum { STRETCH = 4096 }; /* bytes that each of the three streams processes at a time */

static uint32_t table[8][256]; /* table[k][b]: CRC of byte b followed by k zero bytes */
static uint32_t shift[4][256]; /* shift[k][b]: CRC of byte k of a CRC followed by STRETCH zero bytes */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t crc_of_zeros(uint32_t crc, size_t n) { /* the (inverted) crc after n zero bytes */
  while (n--) crc = table[0][crc & 255] ^ (crc >> 8);
  return crc;
}

static void make_tables(void) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t crc = b;
    for (int i = 0; i < 8; i++) crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
    table[0][b] = crc;
  }
  for (int k = 1; k < 8; k++)
    for (int b = 0; b < 256; b++) table[k][b] = table[0][table[k - 1][b] & 255] ^ (table[k - 1][b] >> 8);
  for (int k = 0; k < 4; k++)
    for (uint32_t b = 0; b < 256; b++) shift[k][b] = crc_of_zeros(b << (8 * k), STRETCH);
}

static uint32_t bytes_portable(uint32_t crc, const unsigned char *p, size_t n) {
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
          table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
  }
  while (n--) crc = table[0][(crc ^ *p++) & 255] ^ (crc >> 8);
  return crc;
}

uint32_t weft__crc32c_portable(uint32_t crc, const void *data, size_t size) {
  pthread_once(&once, make_tables);
  return ~bytes_portable(~crc, data, size);
}

#if defined(__x86_64__)
#define TARGET __attribute__((target("sse4.2")))
#define STEP(crc, word) ((uint32_t)__builtin_ia32_crc32di((crc), (word)))
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
#define TARGET __attribute__((target("+crc")))
#define STEP(crc, word) crc_word((crc), (word))
static inline uint32_t crc_word(uint32_t crc, uint64_t word) {
  __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
  return crc;
}
static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

#ifdef STEP
static inline uint64_t word_at(const unsigned char *p) {
  uint64_t w;
  memcpy(&w, p, 8);
  return w;
}

static inline uint32_t skip_stretch(uint32_t crc) {
  return shift[0][crc & 255] ^ shift[1][crc >> 8 & 255] ^ shift[2][crc >> 16 & 255] ^ shift[3][crc >> 24];
}

TARGET static uint32_t bytes_fast(uint32_t crc, const unsigned char *p, size_t n) {
  for (; n >= 3 * STRETCH; n -= 3 * STRETCH, p += 3 * STRETCH) {
    uint32_t second = 0, third = 0;
    for (int i = 0; i < STRETCH; i += 8) {
      crc = STEP(crc, word_at(p + i));
      second = STEP(second, word_at(p + STRETCH + i));
      third = STEP(third, word_at(p + 2 * STRETCH + i));
    }
    crc = skip_stretch(skip_stretch(crc) ^ second) ^ third;
  }
  for (; n >= 8; n -= 8, p += 8) crc = STEP(crc, word_at(p));
  return bytes_portable(crc, p, n);
}
#endif

uint32_t weft__crc32c(uint32_t crc, const void *data, size_t size) {
  pthread_once(&once, make_tables);
#ifdef STEP
  if (has_instruction()) return ~bytes_fast(~crc, data, size);
#endif
  return ~bytes_portable(~crc, data, size);
}
