/* nccl.c - the ops of NVIDIA's collective library, as definitions: TensorFlow has kernels for GPUs only.
 *
 * tf.contrib.nccl of Weft uses CollectiveReduce and its kin instead, which run on every device. */
#include "graph/op.h"

OPS(nccl) = {
    {"NcclAllReduce(input:T) -> (data:T) | reduction:string{'min','max','prod','sum'} "
     "T:type{half,float,double,int32,int64} num_devices:int shared_name:string ; stateful",
     "Each task's value, reduced over all.", .infer = weft__infer_same},
    {"NcclBroadcast(input:T) -> (output:T) | T:type{half,float,double,int32,int64} shape:shape ; stateful",
     "Sends a value to all devices.", .infer = weft__infer_attr_shape},
    {"NcclReduce(input:num_devices*T) -> (data:T) | reduction:string{'min','max','prod','sum'} "
     "T:type{half,float,double,int32,int64} num_devices:int>=1 ; stateful",
     "The values of all devices, reduced.", .infer = weft__infer_same},
    {.scenario = "tests/parity/test_no_kernel.py"},
};
