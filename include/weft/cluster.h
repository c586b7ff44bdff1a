/* cluster.h - clusters, servers, and sessions that run on them.  Programs include weft.h, which states the rules. */
#ifndef WEFT_CLUSTER_H
#define WEFT_CLUSTER_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
