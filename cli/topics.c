/* topics.c - what `weft help TOPIC` prints: clusters, security and environment variables.
 *
 * tests/cli.sh compares the variables with those that the sources read. */
#include "topics.h"
#include <stddef.h>

static const char clusters[] =
    "A cluster is a set of tasks. Each task is a process with a job name (ps or worker), an index and an address.\n"
    "Parameter servers (ps) hold the variables; workers train; worker 0 is the chief, which initializes, saves\n"
    "checkpoints and writes logs.\n"
    "\n"
    "Start a cluster on this machine; --ps_hosts, --worker_hosts, --job_name and --task_index are added:\n"
    "  weft launch --ps 1 --workers 2 -- train.py\n"
    "Start one task of a cluster on several machines, on each of them:\n"
    "  weft run train.py --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=worker --task_index=0\n"
    "Start a task that only waits for graphs:\n"
    "  weft serve --cluster 'ps=a:2222;worker=b:2222,c:2222' --job ps --task 0\n"
    "Under Slurm and MPI, 'weft exec' finds out which task it is; 'weft manifest' writes files for Kubernetes,\n"
    "Compose and Slurm. TF_CONFIG is read everywhere.\n"
    "\n"
    "Watch it with 'weft top', check it with 'weft check'. Both find clusters of 'weft launch' by themselves.\n"
    "A task that dies is reported within seconds. Supervised programs recover from the last checkpoint;\n"
    "'weft launch --restart N' starts a failed task again.\n"
    "\n"
    "More: docs/clusters.md, docs/deployment.md.\n";

static const char security[] =
    "A task runs the graphs of everybody who can reach its port, as TensorFlow's tasks do. It says so when it\n"
    "starts on an address that other machines can reach. To close the port:\n"
    "\n"
    "  WEFT_TOKEN=SECRET            every call must carry the token (the same on all tasks)\n"
    "  WEFT_TOKEN_FILE=FILE         the same, from a file\n"
    "  WEFT_TLS_CERT, WEFT_TLS_KEY, WEFT_TLS_CA\n"
    "                               TLS in both directions, with certificates of one authority\n"
    "  weft launch --private        a token for one local cluster, in a file that only you can read\n"
    "  weft serve --require-auth    refuse to start without a token or TLS (WEFT_REQUIRE_AUTH=1)\n"
    "  weft serve --allow-dir DIR   file ops may touch only this directory (WEFT_ALLOW_DIRS=DIR:DIR)\n"
    "  weft serve --memory 4G       a step that needs more memory fails, the task stays (WEFT_MEMORY)\n"
    "\n"
    "TensorFlow's tasks know neither tokens nor TLS, so they cannot join such a cluster.\n"
    "\n"
    "More: docs/security.md.\n";

static const char environment[] =
    "Cluster\n"
    "  TF_CONFIG                 the cluster and this task's role, as TensorFlow reads it\n"
    "  WEFT_NUM_PS, WEFT_PORT    under Slurm and MPI: how many ranks are ps (1), and the first port (8888)\n"
    "  WEFT_BIND                 the address to listen on, if it is not the one that the cluster lists\n"
    "  WEFT_STATUS_PORT          the port of the status page\n"
    "  WEFT_WAIT_SECS            how long a session waits for absent tasks (forever)\n"
    "  WEFT_JOIN_TIMEOUT         how long join waits for a task that died or never came, in seconds (1800; 0: "
    "forever)\n"
    "  WEFT_TERMINATE_SECS       how long a step may take after SIGTERM, in Python programs (10)\n"
    "Security (see 'weft help security')\n"
    "  WEFT_TOKEN, WEFT_TOKEN_FILE, WEFT_TLS_CERT, WEFT_TLS_KEY, WEFT_TLS_CA, WEFT_REQUIRE_AUTH, WEFT_ALLOW_DIRS\n"
    "Memory and idle state of a task\n"
    "  WEFT_MEMORY               a limit on its memory, such as 800M, 4G or auto\n"
    "  WEFT_SESSION_TTL          seconds until the session of a client that is gone is closed (3600)\n"
    "  WEFT_SESSION_IDLE_SECS    seconds until its plans are freed (60)\n"
    "  WEFT_SESSION_MEMORY_MB    memory that sessions of absent clients may use together (a quarter of the machine's)\n"
    "  WEFT_DATASET_IDLE_SECS    seconds until threads of an unused data set end (600)\n"
    "Steps\n"
    "  WEFT_DENSE_UPDATES        1: sparse Adam updates every row in every step, not only when it is read\n"
    "GPU (docs/gpu.md)\n"
    "  WEFT_TF32, WEFT_BF16      1: round float products to tf32 or bfloat16\n"
    "  WEFT_CUDNN                0: use no cuDNN; 1: use it wherever it can run\n"
    "  WEFT_GPU_COMPILE          0: compile no kernels at run time\n"
    "  WEFT_GPU_FED_LENGTHS      0: no plans for the shapes of feeds, and for lengths that they give\n"
    "  WEFT_VIRTUAL_GPUS         show every card as that many devices\n"
    "  WEFT_CUDA_PLUGIN          another plug-in; none: no GPUs; simulated: a card in host memory\n"
    "  WEFT_CUDA_LIBRARIES       the folder of cuBLASLt, cuDNN and NCCL\n"
    "  WEFT_GPU_NO_REPLAY, WEFT_GPU_CAREFUL\n"
    "                            launch kernels one by one, always or in a plan's first runs, to name the node that "
    "fails\n"
    "  WEFT_SIMULATED_CARDS, WEFT_SIMULATED_TROUBLE\n"
    "                            for tests: how many simulated cards there are, and how one of them fails\n"
    "Programs\n"
    "  WEFT_LAUNCH               set by 'weft launch' without --verbose: Ctrl-C prints no traceback of a Python "
    "program\n"
    "  WEFT_PYTHON_PROGRAM       the Python of 'weft run' (python3)\n"
    "  WEFT_DATA                 the folder of MNIST and other data sets\n"
    "  TF_CPP_MIN_LOG_LEVEL      0 to 3: log everything, no information, no warnings, no errors\n"
    "  CUDA_VISIBLE_DEVICES      the cards that a task sees\n"
    "  NO_COLOR                  set: print without colors\n";

const cli_topic cli_topics[] = {
    {"clusters", "what a cluster is, and how to start, watch and check one", clusters},
    {"security", "who can use a task's port, and how to close it", security},
    {"environment", "the variables that Weft reads", environment},
    {NULL, NULL, NULL},
};
