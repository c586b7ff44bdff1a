"""Modules of tensorflow.python.tpu that programs import to ask whether they run on TPUs; they never do here."""


class TpuContext:
    """What a program is told about the TPUs it runs on: there are none."""

    number_of_shards = None


def get_tpu_context():
    """Returns the context in which ops are made for TPUs; its number_of_shards is None, as outside of TPUs."""
    return TpuContext()


class Topology:
    """The places of the chips of a TPU."""

    def __init__(self, serialized=None, mesh_shape=None, device_coordinates=None):
        raise NotImplementedError("tensorflow.python.tpu.topology.Topology: Weft runs on CPUs and GPUs, not on TPUs: use "
                                  "tf.distribute.MirroredStrategy for several GPUs")
