/* lmdb.c - walks the B+tree of an LMDB file from the first key to the last.
 *
 * The file is read page by page and not mapped: if it becomes shorter, a read fails, while a mapped page would end the
 * process.  Nothing in the file is trusted.  A walk enters each page of a tree once, so a walk that enters more pages
 * than the file has is an error; this ends walks of trees whose pages refer to each other in a circle. */
#include "io/lmdb.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "io/confine.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The offsets of what is read. */
enum {
  PAGE_NUMBER = 0,
  PAGE_FLAGS = 10,
  PAGE_LOWER = 12, /* the end of the list of offsets, or the number of overflow pages */
  PAGE_HEADER = 16,
  META_MAGIC = 16,
  META_VERSION = 20,
  META_PAGE_SIZE = 40, /* the padding of the database of free pages */
  META_FLAGS = 92,     /* of the unnamed database */
  META_ROOT = 128,
  META_TRANSACTION = 144,
  META_SIZE = 152,
  NODE_LOW = 0,
  NODE_HIGH = 2,
  NODE_FLAGS = 4,
  NODE_KEY_SIZE = 6,
  NODE_HEADER = 8
};
enum { IS_BRANCH = 1, IS_LEAF = 2, IS_OVERFLOW = 4, IS_META = 8, IS_LEAF2 = 32 }; /* flags of pages */
enum { IN_OVERFLOW = 1, HAS_DUPLICATES = 4, DB_DUPLICATES = 4 };                  /* flags of nodes, of databases */
enum { MAX_DEPTH = 32, MIN_PAGE = 512, MAX_PAGE = 65536, DATA_VERSION = 1 };
static const uint32_t MAGIC = 0xBEEFC0DE;
static const uint64_t NO_PAGE = UINT64_MAX;

typedef struct lmdb_level {
  uint8_t *page;
  size_t n, at; /* its nodes, and the next one */
} lmdb_level;

struct lmdb_reader {
  char *path;
  int fd;
  uint64_t size, entered; /* bytes of the file, and pages that the walk entered */
  size_t page_size;
  uint64_t root;
  int depth; /* levels in use; 0 before the walk and after it */
  bool begun;
  lmdb_level level[MAX_DEPTH];
};

typedef struct lmdb_node {
  const uint8_t *key, *data;
  size_t key_size, room; /* room: bytes of the page from data on */
  uint32_t low, flags;   /* low: the 32 bits that are a leaf's size of data */
} lmdb_node;

static uint16_t get16(const uint8_t *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v); /* both the format and the machine are little-endian */
  return v;
}
static uint32_t get32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static uint64_t get64(const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static weft_err lmdb_damaged(const lmdb_reader *r, const char *what, uint64_t page) {
  return weft__fail(WEFT_DATA_LOSS, "%s is a damaged LMDB file: page %llu %s", r->path, (unsigned long long)page, what);
}

/* ---- opening ---- */

/* Reads the meta page at an offset.  Returns false if there is none. */
static bool lmdb_meta(const lmdb_reader *r, uint64_t offset, uint8_t meta[META_SIZE]) {
  if (offset > r->size || r->size - offset < META_SIZE) return false;
  if (weft__file_read_at(r->fd, r->path, offset, meta, META_SIZE) != WEFT_OK) return false;
  return (get16(meta + PAGE_FLAGS) & IS_META) && get32(meta + META_MAGIC) == MAGIC;
}

static weft_err lmdb_header(lmdb_reader *r) {
  uint8_t meta[2][META_SIZE];
  if (!lmdb_meta(r, 0, meta[0]))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s is not an LMDB file of a 64-bit machine", r->path);
  r->page_size = get32(meta[0] + META_PAGE_SIZE);
  if (r->page_size < MIN_PAGE || r->page_size > MAX_PAGE || (r->page_size & (r->page_size - 1)))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: an LMDB file with pages of %zu bytes", r->path, r->page_size);
  /* the meta page of the latest transaction counts */
  const bool second =
      lmdb_meta(r, r->page_size, meta[1]) && get64(meta[1] + META_TRANSACTION) > get64(meta[0] + META_TRANSACTION);
  const uint8_t *m = meta[second];
  if (get32(m + META_VERSION) != DATA_VERSION)
    return weft__fail(WEFT_UNIMPLEMENTED, "%s: Weft reads LMDB files of version %d, not %u", r->path, DATA_VERSION,
                      get32(m + META_VERSION));
  if (get16(m + META_FLAGS) & DB_DUPLICATES)
    return weft__fail(WEFT_UNIMPLEMENTED, "%s: Weft reads no LMDB database with several values for a key (MDB_DUPSORT)",
                      r->path);
  r->root = get64(m + META_ROOT);
  return WEFT_OK;
}

/* Stores the path of the file: that of a folder is in it. */
static weft_err lmdb_path(lmdb_reader *r, const char *path) {
  struct stat st;
  const char *local = NULL;
  WEFT_TRY(weft__path_allowed(path)); /* before it is looked at */
  WEFT_TRY(weft__path_local(path, &local));
  const bool folder = stat(local, &st) == 0 && S_ISDIR(st.st_mode);
  r->path = folder ? weft__sprintf("%s/data.mdb", path) : weft__strdup(path);
  return r->path ? weft__path_allowed(r->path) : WEFT_OOM;
}

weft_err weft__lmdb_open(lmdb_reader **out, const char *path) {
  lmdb_reader *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  r->fd = -1;
  weft_err err = lmdb_path(r, path);
  if (!err) err = weft__file_open(r->path, &r->fd, &r->size);
  if (!err) err = lmdb_header(r);
  if (err)
    weft__lmdb_close(r);
  else
    *out = r;
  return err;
}

void weft__lmdb_close(lmdb_reader *r) {
  if (!r) return;
  if (r->fd >= 0) close(r->fd);
  for (int i = 0; i < MAX_DEPTH; i++) weft__free(r->level[i].page);
  weft__free(r->path);
  weft__free(r);
}

/* ---- pages and nodes ---- */

/* Reads a page of the tree into the next level. */
static weft_err lmdb_enter(lmdb_reader *r, uint64_t number) {
  WEFT_ASSERT(r->depth >= 0 && r->depth <= MAX_DEPTH && r->page_size >= MIN_PAGE);
  const uint64_t pages = r->size / r->page_size;
  if (number < 2 || number >= pages) return lmdb_damaged(r, "does not exist", number);
  if (r->depth == MAX_DEPTH) return lmdb_damaged(r, "is too deep in the tree", number);
  if (++r->entered > pages) return lmdb_damaged(r, "occurs more than once in the tree", number);
  lmdb_level *l = &r->level[r->depth];
  if (!l->page && !(l->page = weft__alloc(r->page_size))) return WEFT_OOM;
  WEFT_TRY(weft__file_read_at(r->fd, r->path, number * r->page_size, l->page, r->page_size));
  const uint16_t flags = get16(l->page + PAGE_FLAGS), lower = get16(l->page + PAGE_LOWER);
  if (get64(l->page + PAGE_NUMBER) != number) return lmdb_damaged(r, "has another page's number", number);
  if ((flags & IS_LEAF2) || ((flags & IS_BRANCH) != 0) == ((flags & IS_LEAF) != 0))
    return lmdb_damaged(r, "is neither a branch nor a leaf", number);
  if (lower < PAGE_HEADER || lower > r->page_size) return lmdb_damaged(r, "has a wrong number of nodes", number);
  l->n = (size_t)(lower - PAGE_HEADER) / 2;
  l->at = 0;
  r->depth++;
  return WEFT_OK;
}

/* Reads the header of a node, whose key is inside the page. */
static weft_err lmdb_node_at(const lmdb_reader *r, const lmdb_level *l, size_t i, lmdb_node *out) {
  WEFT_ASSERT(l->page && i < l->n && PAGE_HEADER + 2 * l->n <= r->page_size);
  const uint64_t number = get64(l->page + PAGE_NUMBER);
  const size_t offset = get16(l->page + PAGE_HEADER + 2 * i);
  if (offset < PAGE_HEADER + 2 * l->n || offset > r->page_size - NODE_HEADER)
    return lmdb_damaged(r, "has a node outside it", number);
  const uint8_t *node = l->page + offset;
  const size_t room = r->page_size - offset - NODE_HEADER;
  out->key_size = get16(node + NODE_KEY_SIZE);
  if (out->key_size > room) return lmdb_damaged(r, "has a key outside it", number);
  out->low = (uint32_t)get16(node + NODE_LOW) | (uint32_t)get16(node + NODE_HIGH) << 16;
  out->flags = get16(node + NODE_FLAGS);
  out->key = node + NODE_HEADER;
  out->data = out->key + out->key_size;
  out->room = room - out->key_size;
  WEFT_ASSERT(out->data + out->room <= l->page + r->page_size);
  return WEFT_OK;
}

/* Reads a value that has pages of its own, which follow one another. */
static weft_err lmdb_overflow(const lmdb_reader *r, uint64_t number, size_t size, text *value) {
  uint8_t header[PAGE_HEADER];
  const uint64_t pages = r->size / r->page_size;
  if (number < 2 || number >= pages) return lmdb_damaged(r, "does not exist", number);
  const uint64_t offset = number * r->page_size;
  WEFT_TRY(weft__file_read_at(r->fd, r->path, offset, header, sizeof header));
  const uint64_t held = get32(header + PAGE_LOWER);
  if (get64(header + PAGE_NUMBER) != number || !(get16(header + PAGE_FLAGS) & IS_OVERFLOW))
    return lmdb_damaged(r, "is not the first page of a value", number);
  if (held > pages - number || size > held * r->page_size || held * r->page_size - size < PAGE_HEADER)
    return lmdb_damaged(r, "has a value that does not fit", number);
  char *to = weft__text_reserve(value, size);
  if (!to) return WEFT_OOM;
  WEFT_TRY(weft__file_read_at(r->fd, r->path, offset + PAGE_HEADER, to, size));
  value->size += size;
  return WEFT_OK;
}

static weft_err lmdb_value(const lmdb_reader *r, const lmdb_node *node, text *value) {
  WEFT_ASSERT(r->depth > 0);
  const uint64_t number = get64(r->level[r->depth - 1].page + PAGE_NUMBER);
  if (node->flags & HAS_DUPLICATES) return lmdb_damaged(r, "has several values for a key", number);
  if (!(node->flags & IN_OVERFLOW)) {
    if (node->low > node->room) return lmdb_damaged(r, "has a value outside it", number);
    weft__text_add(value, (const char *)node->data, node->low);
    return WEFT_OK;
  }
  if (node->room < sizeof(uint64_t)) return lmdb_damaged(r, "has a value outside it", number);
  return lmdb_overflow(r, get64(node->data), node->low, value);
}

/* ---- walking ---- */

/* Enters pages until a leaf with another node is on top, or leaves all levels. */
static weft_err lmdb_descend(lmdb_reader *r) {
  while (r->depth) {
    lmdb_level *top = &r->level[r->depth - 1];
    WEFT_ASSERT(top->at <= top->n);
    lmdb_node node;
    if (top->at == top->n) {
      r->depth--;
      continue;
    }
    if (get16(top->page + PAGE_FLAGS) & IS_LEAF) return WEFT_OK;
    WEFT_TRY(lmdb_node_at(r, top, top->at++, &node));
    WEFT_TRY(lmdb_enter(r, node.low | (uint64_t)node.flags << 32));
  }
  return WEFT_OK;
}

weft_err weft__lmdb_next(lmdb_reader *r, text *key, text *value, bool *end) {
  lmdb_node node;
  if (!r->begun && r->root != NO_PAGE) WEFT_TRY(lmdb_enter(r, r->root));
  r->begun = true;
  WEFT_TRY(lmdb_descend(r));
  *end = !r->depth;
  if (*end) return WEFT_OK;
  lmdb_level *leaf = &r->level[r->depth - 1];
  WEFT_TRY(lmdb_node_at(r, leaf, leaf->at++, &node));
  key->size = value->size = 0;
  weft__text_add(key, (const char *)node.key, node.key_size);
  WEFT_TRY(lmdb_value(r, &node, value));
  return key->failed || value->failed ? WEFT_OOM : WEFT_OK;
}
