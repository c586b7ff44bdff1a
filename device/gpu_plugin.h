/* gpu_plugin.h - the one plug-in of a process, loaded at the first question. */
#ifndef WEFT_DEVICE_GPU_PLUGIN_H
#define WEFT_DEVICE_GPU_PLUGIN_H

#include "device/gpu_api.h"

/* The calls of the plug-in (or of the simulated card), or NULL; *why is then a line that says why. */
const gpu_api *weft__gpu_plugin_api(const char **why);
const gpu_api *weft__simulated_gpu_api(void); /* device/simulated_gpu.c */

#endif
