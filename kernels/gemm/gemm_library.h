/* gemm_library.h - matrix products by oneDNN and OpenBLAS, which are loaded at the first product that asks for them.
 *
 * A parameter server seldom multiplies matrices; without the two libraries an idle one takes a quarter less memory.
 * Safe from any thread. */
#ifndef WEFT_KERNELS_GEMM_GEMM_LIBRARY_H
#define WEFT_KERNELS_GEMM_GEMM_LIBRARY_H

#include "kernels/gemm/gemm.h"

/* Can oneDNN multiply here?  False if the build has none, on processors other than x86_64, and if its file cannot be
 * loaded, which is logged once. */
bool weft__gemm_library_has_dnnl(void);

/* Multiply on the calling thread.  False, and nothing is written: the library is not there, or it has no fast code for
 * the product or the processor.  The sizes and strides of g fit an int; g is of a float or complex type, for oneDNN of
 * WEFT_FLOAT. */
bool weft__gemm_library_dnnl(const gemm *g);
bool weft__gemm_library_blas(const gemm *g);

/* The versions, which loads the libraries; "not found" if the file cannot be loaded, NULL if not built in. */
const char *weft__gemm_library_dnnl_version(void);
const char *weft__gemm_library_blas_version(void);

#endif
