/* nvidia_library.cuh - NVIDIA's libraries, opened when a kernel first needs one.
 *
 * The plug-in links none of them: it loads where they are missing, and an op that needs one then fails by name. */
#pragma once

/* The address of `name` in lib`library`.so (any version it was built for); NULL, and why in *problem.  Looked for as
 * the loader does, then in $WEFT_CUDA_LIBRARIES, beside CUDA, and in the nvidia folders of the Python on the PATH. */
void *gpu_symbol(const char *library, const char *name, const char **problem);

/* A function of a library under its own name: GPU_CALL(cublasLt, cublasLtMatmul) is a typed pointer or NULL. */
#define GPU_CALL(library, name) ((decltype(&name))gpu_symbol(#library, #name, nullptr))
