/* gpu_plugin.c - finds and loads libweft_cuda.so.
 *
 * The plug-in is searched for in the folder of libweft.  WEFT_CUDA_PLUGIN names another file, "none" for no GPUs, or
 * "simulated" for a card made of host memory, on which CPU kernels run (device/simulated_gpu.c).  Without NVIDIA's
 * driver nothing is loaded, because the plug-in is large and could do nothing.  pthread_once guards the search. */
#include "device/gpu_plugin.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "device/device.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  pthread_once_t once;
  void *library;
  const gpu_api *api;
  bool simulated;
  char why[512];
} plugin = {.once = PTHREAD_ONCE_INIT};

/* Writes the folder from which this code was loaded. */
static void plugin_own_folder(char *out, size_t size) {
  Dl_info here;
  snprintf(out, size, ".");
  if (!dladdr((void *)(uintptr_t)plugin_own_folder, &here) || !here.dli_fname) return;
  const char *slash = strrchr(here.dli_fname, '/');
  if (slash) snprintf(out, size, "%.*s", weft__int_sat(slash - here.dli_fname), here.dli_fname);
}

static void plugin_load(const char *path) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) {
    snprintf(plugin.why, sizeof plugin.why, "this machine has no NVIDIA driver (libcuda.so.1)");
    return;
  }
  dlclose(driver);
  plugin.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin.library) {
    snprintf(plugin.why, sizeof plugin.why, "%s", dlerror());
    return;
  }
  gpu_device_fn *get_api;
  *(void **)&get_api = dlsym(plugin.library, GPU_DEVICE_SYMBOL);
  const gpu_api *api = get_api ? get_api() : NULL;
  if (!api || api->version != GPU_API_VERSION)
    snprintf(plugin.why, sizeof plugin.why, "%s is of another version of Weft", path);
  else
    plugin.api = api;
}

static void plugin_find(void) {
  const char *named = getenv("WEFT_CUDA_PLUGIN");
  char folder[256], path[300];
  if (named && strcmp(named, "simulated") == 0) {
    plugin.api = weft__simulated_gpu_api();
    plugin.simulated = true;
    return;
  }
  if (named && strcmp(named, "none") == 0) {
    snprintf(plugin.why, sizeof plugin.why, "WEFT_CUDA_PLUGIN is \"none\"");
    return;
  }
  plugin_own_folder(folder, sizeof folder);
  snprintf(path, sizeof path, "%s/libweft_cuda.so", folder);
  plugin_load(named && *named ? named : path);
}

const gpu_api *weft__gpu_plugin_api(const char **why) {
  pthread_once(&plugin.once, plugin_find);
  *why = plugin.why;
  return plugin.api;
}

void *weft__gpu_plugin_symbol(const char *symbol) {
  const char *why;
  if (!weft__gpu_plugin_api(&why) || !plugin.library) return NULL;
  return dlsym(plugin.library, symbol);
}

bool weft__gpu_simulated(void) {
  const char *why;
  return weft__gpu_plugin_api(&why) && plugin.simulated;
}
