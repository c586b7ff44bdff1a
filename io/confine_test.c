/* confine_test.c - tests which paths the file ops of graphs may use. */
#include "io/confine.h"

#include "tests/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a directory with inside/, outside/ and a link from the first to the second. */
static const char *make_place(void) {
  static char place[] = "/tmp/weft_confine_XXXXXX";
  EXPECT(mkdtemp(place) != NULL);
  EXPECT(chdir(place) == 0 && mkdir("inside", 0777) == 0 && mkdir("outside", 0777) == 0);
  EXPECT(symlink("../outside", "inside/link") == 0);
  return place;
}

static void clear_place(const char *place) {
  EXPECT(unlink("inside/link") == 0 && rmdir("inside") == 0 && rmdir("outside") == 0 && chdir("/") == 0);
  EXPECT(rmdir(place) == 0);
}

static void refused(const char *path) {
  EXPECT_ERR(weft__path_allowed(path), WEFT_PERMISSION_DENIED, "WEFT_ALLOW_DIRS");
}

TEST(without_a_limit_everything_is_allowed) { EXPECT_OK(weft__path_allowed("/etc/passwd")); }

TEST(the_environment_limits_graphs_that_run_without_a_server) {
  setenv("WEFT_ALLOW_DIRS", "/tmp/somewhere:/tmp/elsewhere", 1);
  EXPECT_OK(weft__path_allowed("/tmp/elsewhere/file"));
  refused("/etc/passwd");
  EXPECT_OK(weft__confine("/etc")); /* the setting of a server wins */
  EXPECT_OK(weft__path_allowed("/etc/passwd"));
}

TEST(a_server_that_spoke_first_is_not_overruled_by_the_environment) {
  setenv("WEFT_ALLOW_DIRS", "/", 1);
  EXPECT_OK(weft__confine(""));
  refused("/etc/passwd");
}

TEST(only_what_lies_inside_is_allowed) {
  const char *place = make_place();
  EXPECT_OK(weft__confine("inside:/nonexistent_place"));
  EXPECT_OK(weft__path_allowed("inside"));
  EXPECT_OK(weft__path_allowed("inside/model.ckpt-1"));
  EXPECT_OK(weft__path_allowed("./inside/new/deeper/file"));
  EXPECT_OK(weft__path_allowed("outside/../inside/file"));
  EXPECT_OK(weft__path_allowed("/nonexistent_place/x"));
  refused("outside/file");
  refused("insider/file");
  refused("inside/../outside/file");
  refused("inside/link/file");
  refused("inside/new/../../outside/file");
  refused("/etc/passwd");
  refused("file");
  refused("");
  refused("/");
  EXPECT_OK(weft__confine(""));
  refused("inside/file");
  refused("file:///etc/passwd"); /* a scheme does not bypass the check */
  EXPECT_ERR(weft__path_allowed("hdfs://name/file"), WEFT_UNIMPLEMENTED, "File system scheme 'hdfs' not implemented");
  EXPECT_OK(weft__confine("/"));
  EXPECT_OK(weft__path_allowed("/etc/passwd"));
  EXPECT_OK(weft__confine(NULL));
  EXPECT_OK(weft__path_allowed("outside/file"));
  clear_place(place);
}
