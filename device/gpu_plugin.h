/* gpu_plugin.h - the GPU plug-in of the process, which is loaded at the first call and never unloaded. */
#ifndef WEFT_DEVICE_GPU_PLUGIN_H
#define WEFT_DEVICE_GPU_PLUGIN_H

#include "device/gpu_api.h"

/* Returns the table of the plug-in (or of the simulated card), or NULL with the reason in *why.  Both are borrowed and
 * stay valid.  Any thread may call it; the first call loads the plug-in and the others wait for that. */
const gpu_api *weft__gpu_plugin_api(const char **why);
const gpu_api *weft__simulated_gpu_api(void); /* device/simulated_gpu.c */

#endif
