/* nvidia_library.cuh - NVIDIA's libraries, which are opened when a kernel first needs one.
 *
 * The plug-in links none of them.  So it loads where they are missing, and an op that needs one fails with its name. */
#pragma once

/* Returns the address of `name` in lib`library`.so (any version that this build knows), or NULL with the reason in
 * *problem.  The search is the loader's, then $WEFT_CUDA_LIBRARIES, CUDA's folder, and the nvidia folders of the Python
 * on the PATH.  Any thread may call it; a library stays open. */
void *gpu_symbol(const char *library, const char *name, const char **problem);

/* GPU_CALL(cublasLt, cublasLtMatmul) is a typed pointer to that function, or NULL. */
#define GPU_CALL(library, name) ((decltype(&name))gpu_symbol(#library, #name, nullptr))
