/* role_test.c - tests the task that flags, TF_CONFIG, Slurm and MPI name. */
#include "cluster/role.h"

#include "tests/check.h"

typedef struct setting {
  const char *name, *value;
} setting;

static const char *read_setting(void *arg, const char *name) {
  for (const setting *s = arg; s->name; s++)
    if (strcmp(s->name, name) == 0) return s->value;
  return NULL;
}

static role find_role(int argc, const char **argv, setting *env) {
  role r;
  EXPECT_OK(weft__role_find(&r, argc, (char *const *)argv, read_setting, env));
  return r;
}
#define ARGS(...)                                                                                                      \
  (int)(sizeof((const char *[]){"p", __VA_ARGS__}) / sizeof(char *)), ((const char *[]){"p", __VA_ARGS__})
#define NO_ARGS 1, ((const char *[]){"p"})

static setting none[] = {{0}};

TEST(flags_in_every_spelling_name_the_task) {
  role r = find_role(ARGS("--ps_hosts=a:1", "--worker_hosts", "b:1,c:1", "--job_name=worker", "--task_index=1", "data"),
                     none);
  EXPECT_EQ_STR(r.job, "worker");
  EXPECT_EQ_INT(r.task, 1);
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 1), "c:1");
  weft__role_finish(&r);
  r = find_role(
      ARGS("-parameter_servers", "a:1", "-workers=b:1", "--chief_hosts=d:1", "--job_name", "ps", "--task_id", "0"),
      none);
  EXPECT_EQ_STR(r.job, "ps");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "chief", 0), "d:1");
  EXPECT_EQ_INT(weft__cluster_size(&r.cluster), 3);
  weft__role_finish(&r);
}

TEST(without_flags_the_process_runs_alone) {
  role r = find_role(ARGS("--ps_hosts=", "--epochs", "3"), none);
  EXPECT_EQ_INT(r.cluster.n_job, 0);
  EXPECT_EQ_STR(r.job, "");
  weft__role_finish(&r);
}

TEST(flags_with_another_meaning_are_left_to_the_program) {
  role r = find_role(ARGS("--workers=4", "--worker_hosts=b:1,c:1", "--ps_hosts=a:1", "--parameter_servers", "2",
                          "--job_name=worker", "--task_index=1", "--task_id=mnist", "--allowed_hosts=example.com"),
                     none);
  EXPECT_EQ_INT(r.cluster.n_job, 2);
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 1), "c:1");
  EXPECT_EQ_INT(r.task, 1);
  weft__role_finish(&r);
  r = find_role(ARGS("--workers=4", "--parameter_servers=1", "--log_dir=/tmp/x", "--ps", "3", "--job_name=trial"),
                none);
  EXPECT_EQ_INT(r.cluster.n_job, 0);
  weft__role_finish(&r);
}

TEST(invalid_flags_are_rejected) {
  role r;
  const char *no_job[] = {"p", "--ps_hosts=a:1"}, *twice[] = {"p", "--ps_hosts=a:1", "--parameter_servers=b:1"},
             *number[] = {"p", "--task_index=x"};
  EXPECT_ERR(weft__role_find(&r, 2, (char *const *)no_job, read_setting, none), WEFT_INVALID_ARGUMENT,
             "--job_name is not");
  EXPECT_ERR(weft__role_find(&r, 3, (char *const *)twice, read_setting, none), WEFT_INVALID_ARGUMENT, "given twice");
  EXPECT_ERR(weft__role_find(&r, 2, (char *const *)number, read_setting, none), WEFT_INVALID_ARGUMENT,
             "--task_index is \"x\", which is not a number");
}

TEST(tf_config_comes_after_flags) {
  setting env[] = {
      {"TF_CONFIG", "{\"cluster\": {\"worker\": [\"x:1\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}"},
      {"SLURM_PROCID", "0"},
      {0}};
  role r = find_role(NO_ARGS, env);
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 0), "x:1");
  weft__role_finish(&r);
  r = find_role(ARGS("--worker_hosts=y:1", "--job_name=worker"), env);
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 0), "y:1");
  EXPECT_EQ_INT(r.task, 0);
  weft__role_finish(&r);
}

TEST(slurm_host_lists_are_expanded_and_ports_count_per_host) {
  setting env[] = {{"SLURM_PROCID", "4"},
                   {"SLURM_NTASKS", "5"},
                   {"SLURM_STEP_NODELIST", "login,node[08-09,11]x"},
                   {"SLURM_STEP_TASKS_PER_NODE", "2,1(x3)"},
                   {"WEFT_NUM_PS", "2"},
                   {0}};
  role r = find_role(NO_ARGS, env);
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "ps", 0), "login:8888");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "ps", 1), "login:8889");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 0), "node08x:8888");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 1), "node09x:8888");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 2), "node11x:8888");
  EXPECT_EQ_STR(r.job, "worker");
  EXPECT_EQ_INT(r.task, 2);
  weft__role_finish(&r);
  env[3].value = "1(x4)";
  role bad;
  EXPECT_ERR(weft__role_find(&bad, 0, NULL, read_setting, env), WEFT_INVALID_ARGUMENT, "makes 4");
}

TEST(the_first_port_of_a_host_can_be_chosen) {
  setting env[] = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"WEFT_PORT", "12000"}, {0}};
  role r = find_role(NO_ARGS, env), bad;
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "ps", 0), "localhost:12000");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 0), "localhost:12001");
  weft__role_finish(&r);
  env[2].value = "http";
  EXPECT_ERR(weft__role_find(&bad, 0, NULL, read_setting, env), WEFT_INVALID_ARGUMENT, "WEFT_PORT is \"http\"");
  env[2].value = "65535";
  EXPECT_ERR(weft__role_find(&bad, 0, NULL, read_setting, env), WEFT_INVALID_ARGUMENT, "65536");
}

TEST(mpi_ranks_fill_the_hosts) {
  setting env[] = {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "3"}, {0}};
  role r = find_role(NO_ARGS, env);
  EXPECT_EQ_STR(r.job, "ps");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 1), "localhost:8890");
  weft__role_finish(&r);
  r = find_role(ARGS("--hosts", "a,b"), env);
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 0), "a:8889");
  EXPECT_EQ_STR(weft__cluster_address(&r.cluster, "worker", 1), "b:8888");
  weft__role_finish(&r);
}
