/* relay.c - the network of the chaos campaign: a router between network namespaces whose links can be made bad.
 *
 *     relay NETNS...
 *
 * Namespace i gets a TUN device "chaos" with the address 10.78.0.(i+1)/24.  Every packet between two namespaces passes
 * through this process, so faults apply to all connections alike, whatever port they use.  Commands come on stdin, one
 * a line; SRC and DST are indices, `*` stands for all:
 *
 *     SRC DST delay US | jitter US | spread US | loss PPM | rate BYTES_PER_S | cut 0/1 | stall PPM | reset PPM | clear
 *
 * delay: of every packet.  jitter: up to that much more, for each packet by itself, so that packets overtake.  spread:
 * up to that much more, the same for all packets of a connection, so that whole connections overtake.  loss: packets.
 * cut: all packets of this direction are dropped.  stall: that share of the connections is dropped from now on.  reset:
 * that share of the connections is reset.  The process ends at the end of its input, and the devices with it. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { HOSTS_MAX = 16, PACKET_MAX = 2048, QUEUE_MAX = 20000, MTU = 1500 };

typedef struct link_state {
  uint64_t delay, jitter, spread, loss, rate, cut, stall, reset;
  uint32_t salt;         /* of the choice of connections: a new one with each stall or reset */
  int64_t free_ns, last; /* when the line is free again; when the last packet is due */
} link_state;

typedef struct packet {
  int64_t due;
  uint64_t order; /* equal times: first come, first served */
  int to;
  size_t size;
  uint8_t bytes[PACKET_MAX];
} packet;

static int n_host, tun[HOSTS_MAX];
static link_state links[HOSTS_MAX][HOSTS_MAX];
static packet *heap[QUEUE_MAX];
static size_t n_heap;
static uint64_t n_order, rng_state = 88172645463325252u;

static void die(const char *what, const char *value) {
  fprintf(stderr, "relay: %s %s: %s\n", what, value, strerror(errno));
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t random_below(uint64_t n) { /* xorshift64 */
  rng_state ^= rng_state << 13;
  rng_state ^= rng_state >> 7;
  rng_state ^= rng_state << 17;
  return n ? rng_state % n : 0;
}

/* ---- devices ---- */

static int open_tun(const char *name, int host) {
  struct ifreq r = {0};
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(0x0A4E0001u + (uint32_t)host)}};
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("cannot open", "/dev/net/tun");
  strcpy(r.ifr_name, "chaos");
  r.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(fd, TUNSETIFF, &r)) die("cannot create a TUN device in", name);
  memcpy(&r.ifr_addr, &a, sizeof a);
  if (ioctl(s, SIOCSIFADDR, &r)) die("cannot set the address in", name);
  a.sin_addr.s_addr = htonl(0xFFFFFF00u);
  memcpy(&r.ifr_netmask, &a, sizeof a);
  if (ioctl(s, SIOCSIFNETMASK, &r)) die("cannot set the netmask in", name);
  r.ifr_mtu = MTU;
  if (ioctl(s, SIOCSIFMTU, &r)) die("cannot set the MTU in", name);
  r.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(s, SIOCSIFFLAGS, &r)) die("cannot bring up the device in", name);
  close(s);
  return fd;
}

/* The device stays in the namespace; its descriptor is used from anywhere. */
static void add_host(const char *name) {
  char path[300];
  snprintf(path, sizeof path, "/run/netns/%s", name);
  int ns = open(path, O_RDONLY | O_CLOEXEC);
  if (ns < 0 || setns(ns, CLONE_NEWNET)) die("cannot enter", path);
  close(ns);
  tun[n_host] = open_tun(name, n_host);
  n_host++;
}

/* ---- the queue: a heap by due time ---- */

static bool before(const packet *a, const packet *b) {
  return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void push(packet *p) {
  if (n_heap == QUEUE_MAX) { /* as a router's buffer: what does not fit is lost */
    free(p);
    return;
  }
  size_t i = n_heap++;
  for (; i && before(p, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = p;
}

static packet *pop(void) {
  packet *first = heap[0], *moved = heap[--n_heap];
  size_t i = 0;
  for (size_t c; (c = 2 * i + 1) < n_heap; i = c) {
    if (c + 1 < n_heap && before(heap[c + 1], heap[c])) c++;
    if (!before(heap[c], moved)) break;
    heap[i] = heap[c];
  }
  heap[i] = moved;
  return first;
}

/* ---- packets ---- */

static uint16_t checksum(const uint8_t *p, size_t n, uint32_t sum) {
  for (size_t i = 0; i + 1 < n; i += 2) sum += (uint32_t)(p[i] << 8 | p[i + 1]);
  if (n & 1) sum += (uint32_t)p[n - 1] << 8;
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  return (uint16_t)~sum;
}

static void put16(uint8_t *p, uint16_t v) { p[0] = (uint8_t)(v >> 8), p[1] = (uint8_t)v; }

/* A number for the connection, the same in both directions. */
static uint32_t connection_of(const uint8_t *p, uint32_t salt) {
  size_t head = (size_t)(p[0] & 15) * 4;
  uint32_t a = (uint32_t)p[15] << 16 | (uint32_t)p[head] << 8 | p[head + 1];
  uint32_t b = (uint32_t)p[19] << 16 | (uint32_t)p[head + 2] << 8 | p[head + 3];
  uint64_t h = (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
  h = (h ^ salt) * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  return (uint32_t)(h >> 33);
}

/* The packet becomes a reset of its connection, as its receiver expects one. */
static void make_reset(packet *p) {
  uint8_t *ip = p->bytes;
  size_t head = (size_t)(ip[0] & 15) * 4;
  uint8_t *tcp = ip + head;
  if (ip[9] != 6 || p->size < head + 20) return;
  p->size = head + 20;
  put16(ip + 2, (uint16_t)p->size);
  put16(ip + 10, 0);
  put16(ip + 10, checksum(ip, head, 0));
  tcp[12] = 5 << 4;
  tcp[13] = (uint8_t)(4 | (tcp[13] & 16)); /* RST, and ACK if it was there */
  put16(tcp + 16, 0);
  uint32_t pseudo = 6 + 20;
  for (int i = 12; i < 20; i += 2) pseudo += (uint32_t)(ip[i] << 8 | ip[i + 1]);
  put16(tcp + 16, checksum(tcp, 20, pseudo));
}

/* When the packet is due, or -1: it is dropped. */
static int64_t schedule(link_state *l, packet *p) {
  int64_t now = now_ns(), start = now;
  uint32_t which = connection_of(p->bytes, l->salt);
  if (l->cut || random_below(1000000) < l->loss || which % 1000000 < l->stall) return -1;
  if (which % 1000000 < l->reset) make_reset(p);
  if (l->rate) {
    if (l->free_ns > start) start = l->free_ns;
    if (start - now > 2000000000) return -1; /* the buffer of a slow line is full */
    l->free_ns = start + (int64_t)(p->size * 1000000000u / l->rate);
    start = l->free_ns;
  }
  int64_t due = start + (int64_t)l->delay * 1000;
  if (l->spread) return due + (int64_t)(which % (l->spread + 1)) * 1000;
  if (l->jitter) return due + (int64_t)random_below(l->jitter + 1) * 1000;
  if (due < l->last) due = l->last;
  return l->last = due;
}

static void take(int from) {
  for (int i = 0; i < 64; i++) { /* then the others' turn */
    packet *p = malloc(sizeof *p);
    if (!p) return;
    ssize_t n = read(tun[from], p->bytes, sizeof p->bytes);
    int to = n >= 28 && p->bytes[0] >> 4 == 4 ? p->bytes[19] - 1 : -1;
    if (n > 0) p->size = (size_t)n;
    bool known = to >= 0 && to < n_host && to != from && (p->bytes[0] & 15) * 4 + 4 <= n;
    if (!known || (p->due = schedule(&links[from][to], p)) < 0) {
      free(p);
      if (n <= 0) return;
      continue;
    }
    p->to = to;
    p->order = n_order++;
    push(p);
  }
}

/* Sends what is due; returns how long to sleep in ns, -1: nothing waits. */
static int64_t deliver(void) {
  while (n_heap) {
    int64_t left = heap[0]->due - now_ns();
    if (left > 0) return left;
    packet *p = pop();
    ssize_t sent = write(tun[p->to], p->bytes, p->size);
    (void)sent; /* a full device loses it, as a network does */
    free(p);
  }
  return -1;
}

/* ---- commands ---- */

static bool set(link_state *l, const char *key, uint64_t value) {
  struct {
    const char *key;
    uint64_t *at;
  } all[] = {{"delay", &l->delay}, {"jitter", &l->jitter}, {"spread", &l->spread}, {"loss", &l->loss},
             {"rate", &l->rate},   {"cut", &l->cut},       {"stall", &l->stall},   {"reset", &l->reset}};
  if (strcmp(key, "clear") == 0) {
    *l = (link_state){.salt = l->salt, .last = l->last};
    return true;
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(key, all[i].key) == 0) {
      *all[i].at = value;
      return true;
    }
  return false;
}

static void obey(const char *line) {
  char from[16], to[16], key[16];
  unsigned long long value = 0;
  static uint32_t salt = 1;
  if (sscanf(line, "%15s %15s %15s %llu", from, to, key, &value) < 3) {
    fprintf(stderr, "relay: not a command: %s\n", line);
    return;
  }
  salt++;
  for (int i = 0; i < n_host; i++)
    for (int k = 0; k < n_host; k++) {
      if ((*from != '*' && atoi(from) != i) || (*to != '*' && atoi(to) != k)) continue;
      if (strcmp(key, "stall") == 0 || strcmp(key, "reset") == 0) links[i][k].salt = salt;
      if (!set(&links[i][k], key, value)) fprintf(stderr, "relay: unknown key %s\n", key);
    }
}

/* False: the end of the input. */
static bool read_commands(void) {
  static char text[4096];
  static size_t size;
  ssize_t n = read(STDIN_FILENO, text + size, sizeof text - 1 - size);
  if (n <= 0) return false;
  size += (size_t)n;
  text[size] = 0;
  for (char *end; (end = strchr(text, '\n'));) {
    *end = 0;
    obey(text);
    size -= (size_t)(end + 1 - text);
    memmove(text, end + 1, size + 1);
  }
  return size < sizeof text - 1;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > HOSTS_MAX + 1) {
    fprintf(stderr, "usage: relay NETNS NETNS...  (at most %d)\n", HOSTS_MAX);
    return 2;
  }
  for (int i = 1; i < argc; i++) add_host(argv[i]);
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    struct pollfd fds[HOSTS_MAX + 1] = {{STDIN_FILENO, POLLIN, 0}};
    int64_t wait = deliver();
    struct timespec t = {wait / 1000000000, wait % 1000000000};
    for (int i = 0; i < n_host; i++) fds[i + 1] = (struct pollfd){tun[i], POLLIN, 0};
    if (ppoll(fds, (nfds_t)n_host + 1, wait < 0 ? NULL : &t, NULL) < 0 && errno != EINTR) die("cannot", "poll");
    if (fds[0].revents && !read_commands()) return 0;
    for (int i = 0; i < n_host; i++)
      if (fds[i + 1].revents) take(i);
  }
}
