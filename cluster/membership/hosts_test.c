/* hosts_test.c - tests which lists of hosts count as equal. */
#include "cluster/membership/hosts.h"
#include "tests/check.h"

#define BOTH "ps:0=a:1,worker:0=b:1,worker:1=c:1"

static bool differ(const char *worker_0, const char *worker_1) {
  bool one = weft__hosts_differ(worker_0, "worker:0", worker_1, "worker:1");
  EXPECT(one == weft__hosts_differ(worker_1, "worker:1", worker_0, "worker:0"));
  return one;
}

TEST(equal_lists_and_other_names_of_the_own_host_do_not_differ) {
  EXPECT(!differ(BOTH, BOTH));
  EXPECT(!differ("ps:0=a:1,worker:0=localhost:1,worker:1=c:1", BOTH));
  EXPECT(!differ("ps:0=a:1,worker:0=0.0.0.0:1,worker:1=c:1", "ps:0=a:1,worker:0=b:1,worker:1=[::]:1"));
}

TEST(a_task_may_leave_out_the_other_tasks_of_its_job) {
  EXPECT(!differ("ps:0=a:1,worker:0=b:1", BOTH));
  EXPECT(!differ("ps:0=a:1,worker:0=b:1", "ps:0=a:1,worker:1=c:1"));
}

TEST(other_addresses_and_other_counts_differ) {
  EXPECT(differ(BOTH, "ps:0=a:1,worker:0=c:1,worker:1=b:1"));
  EXPECT(differ(BOTH, "ps:0=a:2,worker:0=b:1,worker:1=c:1"));
  EXPECT(differ(BOTH, BOTH ",worker:2=d:1"));
  EXPECT(differ(BOTH, "ps:0=a:1,ps:1=d:1,worker:0=b:1,worker:1=c:1"));
  EXPECT(differ("ps:0=a:1,worker:0=localhost:2,worker:1=c:1", BOTH));
}

TEST(a_text_that_is_no_list_is_read_up_to_there) {
  EXPECT(!weft__hosts_differ(BOTH, "worker:0", "", "worker:1"));
  EXPECT(!weft__hosts_differ(BOTH, "worker:0", "x,=:,,", "worker:1"));
  EXPECT(weft__hosts_differ(BOTH, "worker:0", "ps:0=:::::,worker", "worker:1"));
}
