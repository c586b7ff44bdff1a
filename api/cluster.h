/* cluster.h - a program's cluster: the one of cluster/ under a public name. */
#ifndef WEFT_API_CLUSTER_H
#define WEFT_API_CLUSTER_H

#include "cluster/spec.h"

struct weft_cluster {
  cluster all;
};

#endif
