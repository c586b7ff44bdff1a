/* shm_test.c - two ends of one segment, as two processes have them. */
#include "net/fast/shm.h"
#include "tests/check.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = 100000 };

typedef struct ends {
  shm *out, *in;
} ends;

static ends open_ends(void) {
  ends e;
  int fd;
  EXPECT_OK(weft__shm_create(&e.out, &fd));
  EXPECT_OK(weft__shm_attach(&e.in, fd));
  close(fd);
  return e;
}

static void close_ends(ends *e) {
  weft__shm_release(e->out);
  weft__shm_release(e->in);
}

static const uint8_t *bytes(void) {
  static uint8_t all[BLOCK];
  for (size_t i = 0; i < sizeof all; i++) all[i] = (uint8_t)(i * 7 + 1);
  return all;
}

TEST(what_one_side_writes_the_other_reads_without_a_copy) {
  ends e = open_ends();
  message m = {0};
  uint64_t ref = weft__shm_write(e.out, bytes(), BLOCK);
  EXPECT(weft__shm_is_ref(ref));
  EXPECT_EQ_INT(weft__shm_ref_size(ref), BLOCK);
  EXPECT_OK(weft__shm_read(e.in, ref, &m));
  EXPECT_EQ_INT(m.n_piece, 1);
  EXPECT(weft__shm_has_piece(weft__message_piece(&m, 0)));
  EXPECT_EQ_MEM(weft__message_piece(&m, 0)->data, bytes(), BLOCK);
  weft__message_finish(&m);
  close_ends(&e);
}

TEST(a_block_is_used_again_once_the_reader_is_done) {
  ends e = open_ends();
  message first = {0}, second = {0};
  uint64_t a = weft__shm_write(e.out, bytes(), BLOCK), b = weft__shm_write(e.out, bytes(), BLOCK);
  EXPECT(a != b);
  EXPECT_OK(weft__shm_read(e.in, a, &first));
  EXPECT_OK(weft__shm_read(e.in, b, &second));
  weft__message_finish(&first);
  EXPECT(weft__shm_write(e.out, bytes(), BLOCK) == a);
  EXPECT_EQ_MEM(weft__message_piece(&second, 0)->data, bytes(), BLOCK);
  weft__message_finish(&second);
  close_ends(&e);
}

TEST(a_full_segment_takes_nothing_more_until_something_is_freed) {
  enum { LARGE = 100 << 20 };
  uint8_t *large = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ends e = open_ends();
  message m = {0};
  EXPECT(large != MAP_FAILED);
  uint64_t first = weft__shm_write(e.out, large, LARGE);
  EXPECT(first && weft__shm_write(e.out, large, LARGE));
  EXPECT_EQ_INT(weft__shm_write(e.out, large, LARGE), 0);
  EXPECT(weft__shm_write(e.out, bytes(), BLOCK));
  EXPECT_OK(weft__shm_read(e.in, first, &m));
  weft__message_finish(&m);
  EXPECT(weft__shm_write(e.out, large, LARGE) == first);
  close_ends(&e);
  munmap(large, LARGE);
}

TEST(there_are_only_so_many_blocks) {
  ends e = open_ends();
  int n = 0;
  while (weft__shm_write(e.out, bytes(), 1)) n++;
  EXPECT_EQ_INT(n, 1024);
  close_ends(&e);
}

TEST(what_was_read_outlives_both_ends) {
  ends e = open_ends();
  message m = {0};
  EXPECT_OK(weft__shm_read(e.in, weft__shm_write(e.out, bytes(), BLOCK), &m));
  close_ends(&e);
  EXPECT_EQ_MEM(weft__message_piece(&m, 0)->data, bytes(), BLOCK);
  weft__message_finish(&m);
}

TEST(a_reference_to_no_block_or_outside_is_refused) {
  ends e = open_ends();
  message m = {0};
  uint64_t good = weft__shm_write(e.out, bytes(), BLOCK);
  uint64_t bad[] = {good + (1ull << 52),        good | 0xffffffff,     good | 0xfffffull << 32,
                    good & ~(0xfffffull << 32), good & ~0xffffffffull, good | 0x7ffull << 52};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    EXPECT_ERR(weft__shm_read(e.in, bad[i], &m), WEFT_INVALID_ARGUMENT, "no such block");
  EXPECT_EQ_INT(m.n_piece, 0);
  close_ends(&e);
}

TEST(memory_that_could_shrink_is_not_attached) {
  shm *w;
  int fd = memfd_create("other", MFD_CLOEXEC);
  EXPECT(fd >= 0 && ftruncate(fd, 256 << 20) == 0);
  EXPECT_ERR(weft__shm_attach(&w, fd), WEFT_INVALID_ARGUMENT, "not a shared memory segment");
  EXPECT(w == NULL);
  close(fd);
}

TEST(a_message_of_shared_bytes_is_copied_before_it_is_parsed) {
  ends e = open_ends();
  message m = {0};
  EXPECT_OK(weft__shm_read(e.in, weft__shm_write(e.out, bytes(), BLOCK), &m));
  const uint8_t *there = weft__message_piece(&m, 0)->data, *flat = weft__message_flatten(&m);
  EXPECT(flat && flat != there);
  EXPECT_EQ_MEM(flat, bytes(), BLOCK);
  weft__message_finish(&m);
  close_ends(&e);
}

TEST(a_tensor_in_shared_memory_says_that_the_peer_can_write_to_it) {
  ends e = open_ends();
  message sent = {0}, m = {0};
  weft_tensor *t;
  received_tensor got;
  EXPECT_OK(weft__tensor_create(&t, WEFT_INT32, &SHAPE1(BLOCK / 4)));
  memcpy(t->data, bytes(), BLOCK);
  EXPECT_OK(weft__received_tensor_write(&sent, t, false));
  for (int i = 0; i < sent.n_piece; i++) { /* as a connection does it: large pieces go through shared memory */
    const piece *p = weft__message_piece(&sent, i);
    if (p->size >= SHM_PIECE_MIN)
      EXPECT_OK(weft__shm_read(e.in, weft__shm_write(e.out, p->data, p->size), &m));
    else
      EXPECT_OK(weft__message_add_copy(&m, p->data, p->size));
  }
  EXPECT_OK(weft__received_tensor_read(&got, &m));
  EXPECT_EQ_MEM(got.tensor->data, bytes(), BLOCK);
  EXPECT(got.tensor->buf->peer_writes);
  EXPECT(!t->buf->peer_writes);
  weft_tensor_destroy(got.tensor);
  weft_tensor_destroy(t);
  weft__message_finish(&m);
  weft__message_finish(&sent);
  close_ends(&e);
}
