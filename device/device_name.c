/* device_name.c - parses device names in all their spellings.
 *
 * A name is a list of parts, each after a '/': job, replica, task, and the device, which is written "/device:GPU:1" or,
 * in the legacy form, "/gpu:1" or "/GPU:1".  Parts may come in any order, may be missing, and may be '*', which means
 * the same as missing.  Only the canonical spelling is ever written.  The functions keep no state. */
#include "device/device.h"
#include "base/cast.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct part {
  const char *at, *end;
} part;

static weft_err device_name_malformed(const char *name) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "Malformed device specification '%s'", name);
}

static bool name_accept(part *p, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(p->end - p->at) < n || strncmp(p->at, word, n) != 0) return false;
  p->at += n;
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Parses a number, or '*' (-1), up to the end of the part. */
static bool name_number(part *p, int *out) {
  int64_t n = 0;
  if (p->end - p->at == 1 && *p->at == '*') {
    *out = -1;
    return true;
  }
  if (p->at == p->end) return false;
  for (; p->at < p->end; p->at++) {
    if (!is_digit(*p->at)) return false;
    n = n * 10 + (*p->at - '0');
    if (n > INT32_MAX) return false;
  }
  *out = weft__int_sat(n);
  return true;
}

/* Parses a word of letters, digits, '_' and '-' that begins with a letter, up to ':' or the end of the part. */
static bool name_word(part *p, char *out, size_t size) {
  size_t n = 0;
  if (p->at == p->end || !is_letter(*p->at)) return false;
  for (; p->at < p->end && *p->at != ':'; p->at++) {
    if (!is_letter(*p->at) && !is_digit(*p->at) && *p->at != '_' && *p->at != '-') return false;
    if (n + 1 >= size) return false;
    out[n++] = *p->at;
  }
  out[n] = 0;
  return true;
}

static bool name_is_wildcard(const part *p) { return p->end - p->at == 1 && *p->at == '*'; }

static bool name_job(part *p, device_spec *s) {
  if (name_is_wildcard(p)) {
    s->has_job = false;
    return true;
  }
  s->has_job = name_word(p, s->job, sizeof s->job) && p->at == p->end;
  return s->has_job;
}

static const char *const legacy_types[] = {"CPU", "GPU"};

/* Writes "cpu" and "gpu" in capitals, as TensorFlow does with these two and no others. */
static void name_capitalize(char *type) {
  for (size_t i = 0; i < sizeof legacy_types / sizeof *legacy_types; i++)
    if (strcasecmp(type, legacy_types[i]) == 0) strcpy(type, legacy_types[i]);
}

/* "GPU", "GPU:1", "GPU:*", "*", "*:1" */
static bool name_device(part *p, device_spec *s) {
  s->id = -1;
  if (name_accept(p, "*"))
    s->has_type = false;
  else if (!(s->has_type = name_word(p, s->type, sizeof s->type)))
    return false;
  name_capitalize(s->type);
  if (p->at == p->end) return true;
  return name_accept(p, ":") && name_number(p, &s->id);
}

static bool name_legacy(part *p, device_spec *s) {
  for (size_t i = 0; i < sizeof legacy_types / sizeof *legacy_types; i++) {
    size_t n = strlen(legacy_types[i]);
    if ((size_t)(p->end - p->at) < n || strncasecmp(p->at, legacy_types[i], n) != 0) continue;
    p->at += n;
    s->has_type = true;
    strcpy(s->type, legacy_types[i]);
    s->id = -1;
    return p->at == p->end || (name_accept(p, ":") && name_number(p, &s->id));
  }
  return false;
}

static bool name_parse_part(part p, device_spec *s) {
  if (name_accept(&p, "job:")) return name_job(&p, s);
  if (name_accept(&p, "replica:")) return name_number(&p, &s->replica);
  if (name_accept(&p, "task:")) return name_number(&p, &s->task);
  if (name_accept(&p, "device:")) return name_device(&p, s);
  return name_legacy(&p, s);
}

weft_err weft__device_parse(device_spec *out, const char *name) {
  *out = (device_spec){.replica = -1, .task = -1, .id = -1};
  if (strcmp(name, "/") == 0) return WEFT_OK;
  device_spec s = *out;
  for (const char *at = name; *at;) {
    if (*at != '/') return device_name_malformed(name);
    const char *end = at + 1;
    while (*end && *end != '/') end++;
    if (!name_parse_part((part){at + 1, end}, &s)) return device_name_malformed(name);
    at = end;
  }
  *out = s;
  return WEFT_OK;
}

void weft__device_merge(device_spec *into, const device_spec *over) {
  if (over->has_job) {
    into->has_job = true;
    memcpy(into->job, over->job, sizeof into->job);
  }
  if (over->replica >= 0) into->replica = over->replica;
  if (over->task >= 0) into->task = over->task;
  if (over->has_type) {
    into->has_type = true;
    memcpy(into->type, over->type, sizeof into->type);
  }
  if (over->id >= 0) into->id = over->id;
}

static bool number_matches(int want, int have) { return want < 0 || want == have; }

bool weft__device_matches(const device_spec *spec, const device_spec *full) {
  if (spec->has_job && !(full->has_job && strcmp(spec->job, full->job) == 0)) return false;
  if (spec->has_type && !(full->has_type && strcmp(spec->type, full->type) == 0)) return false;
  return number_matches(spec->replica, full->replica) && number_matches(spec->task, full->task) &&
         number_matches(spec->id, full->id);
}

char *weft__device_text(const device_spec *s, char *buf, size_t size) {
  char where[48] = "", id[16] = "*", replica[32] = "", task[32] = "";
  if (s->id >= 0) snprintf(id, sizeof id, "%d", s->id);
  if (s->has_type || s->id >= 0) snprintf(where, sizeof where, "/device:%s:%s", s->has_type ? s->type : "*", id);
  if (s->replica >= 0) snprintf(replica, sizeof replica, "/replica:%d", s->replica);
  if (s->task >= 0) snprintf(task, sizeof task, "/task:%d", s->task);
  snprintf(buf, size, "%s%s%s%s%s", s->has_job ? "/job:" : "", s->has_job ? s->job : "", replica, task, where);
  return buf;
}
