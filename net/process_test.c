/* process_test.c - the id of this process, before and after a fork. */
#include "net/process.h"
#include "tests/check.h"
#include <sys/wait.h>
#include <unistd.h>

TEST(the_id_is_that_of_getpid) {
  EXPECT_EQ_INT(weft__process_id(), getpid());
  EXPECT_EQ_INT(weft__process_id(), getpid());
}

/* Exits with 0 if the ids of a child and of its child are right. */
static void be_child(pid_t parent) {
  bool right = weft__process_id() == getpid() && weft__process_id() != parent;
  pid_t grandchild = fork();
  if (grandchild == 0) _exit(weft__process_id() == getpid() ? 0 : 1);
  int status = 1;
  right = right && grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild && status == 0;
  _exit(right ? 0 : 1);
}

TEST(a_forked_child_has_its_own_id) {
  pid_t parent = weft__process_id(), child = fork();
  if (child == 0) be_child(parent);
  int status = 1;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child);
  EXPECT_EQ_INT(status, 0);
  EXPECT_EQ_INT(weft__process_id(), parent);
}
