/* cluster.h - the public type of a cluster; it wraps that of cluster/. */
#ifndef WEFT_API_CLUSTER_H
#define WEFT_API_CLUSTER_H

#include "cluster/spec.h"

struct weft_cluster {
  cluster all;
};

#endif
