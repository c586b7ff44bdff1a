/* nvidia_library.cu - searches this machine for NVIDIA's libraries.  One lock guards the libraries that are open. */
#include "device/nvidia_library.cuh"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LIBRARIES = 8, MAX_PATH = 1024 };
struct library {
  char name[32];
  void *handle; /* NULL: not to be had */
  char problem[256];
};
static library libraries[MAX_LIBRARIES];
static int n_libraries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Opens the first library that matches the pattern and that the loader accepts. */
static void *open_pattern(const char *pattern) {
  glob_t found;
  void *handle = nullptr;
  if (glob(pattern, 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && !handle; i++) handle = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
  }
  return handle;
}

static void *open_in(const char *folder, const char *name) {
  char pattern[2 * MAX_PATH];
  snprintf(pattern, sizeof pattern, "%s/lib%s.so*", folder, name);
  return open_pattern(pattern);
}

/* Searches the nvidia packages of each python3 on the PATH. */
static void *open_beside_python(const char *name) {
  const char *path = getenv("PATH");
  void *handle = nullptr;
  for (const char *at = path; at && *at && !handle; at += *at == ':') {
    const int n = (int)strcspn(at, ":");
    char file[MAX_PATH];
    snprintf(file, sizeof file, "%.*s/python3", n, at);
    if (n && access(file, X_OK) == 0) {
      snprintf(file, sizeof file, "%.*s/../lib/python3*/site-packages/nvidia/*/lib", n, at);
      handle = open_in(file, name);
    }
    at += n;
  }
  return handle;
}

static void *open_library(const char *name, char *problem, size_t size) {
  static const char *const versions[] = {"13", "12", "9", "2"};
  char file[MAX_PATH];
  void *handle = nullptr;
  for (const char *version : versions) {
    snprintf(file, sizeof file, "lib%s.so.%s", name, version);
    if (!handle) handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  const char *given = getenv("WEFT_CUDA_LIBRARIES");
  if (!handle && given) handle = open_in(given, name);
  if (!handle) handle = open_in("/usr/local/cuda/lib64", name);
  if (!handle) handle = open_beside_python(name);
  if (!handle)
    snprintf(problem, size, "lib%s.so was not found: set WEFT_CUDA_LIBRARIES to the folder that holds it", name);
  return handle;
}

void *gpu_symbol(const char *name, const char *symbol, const char **problem) {
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < n_libraries && strcmp(libraries[i].name, name) != 0) i++;
  if (i == n_libraries && i < MAX_LIBRARIES) {
    library *l = &libraries[n_libraries++];
    snprintf(l->name, sizeof l->name, "%s", name);
    l->handle = open_library(name, l->problem, sizeof l->problem);
  }
  const library *l = &libraries[i < MAX_LIBRARIES ? i : 0];
  void *found = l->handle ? dlsym(l->handle, symbol) : nullptr;
  if (problem) *problem = found ? nullptr : l->problem;
  pthread_mutex_unlock(&lock);
  return found;
}
