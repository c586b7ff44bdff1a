"""tf.config: the ConfigProto of sessions for which the program gives none.

A call here changes the configuration that later sessions without a `config` of their own begin with.
"""
import collections
import re

from weft._core.framework import protos
from weft._core.framework.absent import Named
from weft._core.platform import logging

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
LogicalDeviceConfiguration = collections.namedtuple(
    "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"], defaults=(None, None, None))

_visible = {}  # type of device -> the devices that sessions may use
_growth = {}  # device -> whether its memory grows on demand
_logical = {}  # device -> its LogicalDeviceConfigurations
_options = {}  # field of ConfigProto -> value
_jit = None
_mixed_precision = False  # whether enable_mixed_precision_graph_rewrite was called


def session_config(given=None):
    """Returns the ConfigProto of a session: the one that was given, or the one that calls to this module made.

    If the program turned automatic mixed precision on, both have it, unless the given one turns it off.
    """
    if given is None:
        return _own_config()
    if not _mixed_precision or given.graph_options.rewrite_options.auto_mixed_precision == protos.RewriterConfig.OFF:
        return given
    config = protos.ConfigProto()
    config.CopyFrom(given)
    config.graph_options.rewrite_options.auto_mixed_precision = protos.RewriterConfig.ON
    return config


def set_mixed_precision(enabled):
    """Turns the float16 graph rewrite on or off for sessions created after this call."""
    global _mixed_precision
    _mixed_precision = enabled
    set_experimental_options({"auto_mixed_precision": enabled})


def _own_config():
    config = protos.ConfigProto()
    for field, value in _options.items():
        setattr(config, field, value)
    if "GPU" in _visible:
        config.gpu_options.visible_device_list = ",".join(d.name.rpartition(":")[2] for d in _visible["GPU"])
        if not _visible["GPU"]:
            config.device_count["GPU"] = 0
    if any(_growth.values()):
        config.gpu_options.allow_growth = True
    for configurations in _logical.values():
        if configurations and configurations[0].memory_limit:
            config.gpu_options.per_process_gpu_memory_fraction = _fraction(configurations[0].memory_limit)
    if "auto_mixed_precision" in _optimizer:
        toggle = protos.RewriterConfig.ON if _optimizer["auto_mixed_precision"] else protos.RewriterConfig.OFF
        config.graph_options.rewrite_options.auto_mixed_precision = toggle
    return config


def _fraction(megabytes):
    from weft._core.session.cluster import list_local_devices
    total = max([d.memory_limit for d in list_local_devices() if d.device_type == "GPU"], default=0)
    return min(1.0, megabytes * 2**20 / total) if total else 0.0


def list_physical_devices(device_type=None):
    """Returns the CPUs and GPUs of this machine.

    Args:
      device_type: 'CPU' or 'GPU' to list only those; None lists all.
    """
    from weft._core.session.cluster import list_local_devices
    found = [PhysicalDevice("/physical_device:" + d.name.removeprefix("/device:"), d.device_type)
             for d in list_local_devices(protos.ConfigProto())]
    return [d for d in found if device_type in (None, d.device_type)]


def get_visible_devices(device_type=None):
    """Returns the devices that sessions may use.

    Args:
      device_type: 'CPU' or 'GPU' to list only those; None lists all.
    """
    return [d for d in list_physical_devices(device_type) if d in _visible.get(d.device_type, [d])]


def set_visible_devices(devices, device_type=None):
    """Sets which devices sessions may use.

    Args:
      devices: a PhysicalDevice or a list of them.
      device_type: the type of all of them; an empty list hides all devices of this type.
    """
    devices = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    known = list_physical_devices()
    for device in devices:
        if device not in known:
            raise ValueError("Unrecognized device: %r" % (device,))
        if device_type not in (None, device.device_type):
            raise ValueError("Unrecognized device: %r" % (device,))
    kinds = [device_type] if device_type else {d.device_type for d in known}
    if "CPU" in kinds and not any(d.device_type == "CPU" for d in devices):
        raise ValueError("tf.config.set_visible_devices: the CPU cannot be hidden; %r leaves it out" % (devices,))
    for kind in kinds:
        _visible[kind] = [d for d in devices if d.device_type == kind]


def list_logical_devices(device_type=None):
    """Returns the devices as sessions name them.

    Args:
      device_type: 'CPU' or 'GPU' to list only those; None lists all.
    """
    visible, count, found = get_visible_devices(device_type), collections.Counter(), []
    for device in visible:
        found.append(LogicalDevice("/device:%s:%d" % (device.device_type, count[device.device_type]), device.device_type))
        count[device.device_type] += 1
    return found


def _gpu(device, what):
    if device not in list_physical_devices():
        raise ValueError("Unrecognized device: %r" % (device,))
    if device.device_type != "GPU":
        raise ValueError("Cannot %s on %s devices" % (what, device.device_type))


def get_memory_growth(device):
    """Returns whether the memory of a GPU is allocated as it is needed.

    Args:
      device: a PhysicalDevice.
    """
    _gpu(device, "get memory growth")
    return _growth.get(device)


def set_memory_growth(device, enable):
    """Sets whether the memory of a GPU is allocated as it is needed, instead of at once.

    Args:
      device: a PhysicalDevice.
      enable: whether it grows.
    """
    _gpu(device, "set memory growth")
    _growth[device] = bool(enable)


def get_logical_device_configuration(device):
    """Returns the value given to set_logical_device_configuration for a device, or None.

    Args:
      device: a PhysicalDevice.
    """
    return _logical.get(device)


def set_logical_device_configuration(device, logical_devices):
    """Limits the memory of a device.

    Args:
      device: a PhysicalDevice.
      logical_devices: a list of one LogicalDeviceConfiguration; Weft does not split a device into several.
    """
    if device not in list_physical_devices():
        raise ValueError("Unrecognized device: %r" % (device,))
    logical_devices = list(logical_devices)
    if len(logical_devices) > 1:
        raise NotImplementedError("tf.config.set_logical_device_configuration(logical_devices) has %d devices for %s: Weft does not "
                                  "split a device; give a list of one" % (len(logical_devices), device.name))
    if device.device_type == "CPU" and any(d.memory_limit is not None for d in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    _logical[device] = logical_devices


def get_inter_op_parallelism_threads():
    """Returns how many independent ops run at once; 0 lets Weft choose."""
    return _options.get("inter_op_parallelism_threads", 0)


def set_inter_op_parallelism_threads(num_threads):
    """Sets how many independent ops run at once.

    Args:
      num_threads: the number; 0 lets Weft choose.
    """
    _options["inter_op_parallelism_threads"] = int(num_threads)


def get_intra_op_parallelism_threads():
    """Returns how many threads one op may use; 0 lets Weft choose."""
    return _options.get("intra_op_parallelism_threads", 0)


def set_intra_op_parallelism_threads(num_threads):
    """Sets how many threads one op may use.

    Args:
      num_threads: the number; 0 lets Weft choose.
    """
    _options["intra_op_parallelism_threads"] = int(num_threads)


def get_soft_device_placement():
    """Returns whether an op runs on another device if the requested one cannot run it."""
    return _options.get("allow_soft_placement", False)


def set_soft_device_placement(enabled):
    """Sets whether an op runs on another device if the requested one cannot run it.

    Args:
      enabled: whether it does.
    """
    _options["allow_soft_placement"] = bool(enabled)


def get_log_device_placement():
    """Returns whether sessions log the device of each op."""
    return _options.get("log_device_placement", False)


def set_log_device_placement(enabled):
    """Sets whether sessions log the device of each op.

    Args:
      enabled: whether they do.
    """
    _options["log_device_placement"] = bool(enabled)


def get_jit():
    """Returns the value given to set_jit, or an empty string."""
    return _jit or ""


def set_jit(enabled):
    """Asks for XLA, which Weft does not have: the graph runs as it is, and the log says so.

    Args:
      enabled: True or 'autoclustering' asks for it.
    """
    global _jit
    _jit = "autoclustering" if enabled is True else enabled or ""
    if _jit:
        logging.warning("tf.config.optimizer.set_jit(%r): Weft has no XLA; graphs run without it, with the same results", enabled)


# ---- tf.config.experimental and tf.config.optimizer ----

_TOGGLES = ("layout_optimizer", "constant_folding", "shape_optimization", "remapping", "arithmetic_optimization",
            "dependency_optimization", "loop_optimization", "function_optimization", "debug_stripper",
            "scoped_allocator_optimization", "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision",
            "auto_mixed_precision_onednn_bfloat16", "auto_mixed_precision_mkl", "use_plugin_optimizers")
_SWITCHES = ("disable_model_pruning", "disable_meta_optimizer")
_optimizer = {}


def set_experimental_options(options):
    """Stores the options.  Only auto_mixed_precision has an effect: Weft always runs its own passes.

    Args:
      options: {name of a pass: whether it runs}; names that TensorFlow does not know are left out.
    """
    _optimizer.update({k: v for k, v in dict(options).items() if k in (*_TOGGLES, *_SWITCHES, "min_graph_nodes")})
    if any(_optimizer.get(k) for k in _TOGGLES if k.startswith("auto_mixed_precision_")):
        logging.warning("tf.config.optimizer.set_experimental_options(%r): Weft changes no op to bfloat16 on the CPU; those ops run in "
                        "their own types", options)


def get_experimental_options():
    """Returns the options given to set_experimental_options."""
    return {**dict.fromkeys(_SWITCHES, False), **_optimizer}


_tensor_float_32 = None


def enable_tensor_float_32_execution(enabled):
    """Sets whether GPU matrix products may round their inputs to 10 bits; call it before the first session is created.

    Args:
      enabled: whether they may.
    """
    import os
    global _tensor_float_32
    _tensor_float_32 = bool(enabled)
    os.environ["WEFT_TF32"] = "1" if enabled else "0"


def tensor_float_32_execution_enabled():
    """Returns whether GPU matrix products may round their inputs to 10 bits. The default is no, unlike in TensorFlow 2.
    """
    import os
    return os.environ.get("WEFT_TF32") == "1" if _tensor_float_32 is None else _tensor_float_32


def get_device_details(device):
    """Returns a dict of details of a device, which has only the name of a GPU.

    Args:
      device: a PhysicalDevice.
    """
    from weft._core.session.cluster import list_local_devices
    if not isinstance(device, PhysicalDevice):
        raise ValueError("device must be a tf.config.PhysicalDevice, but got: %s" % (device,))
    if device.device_type != "GPU":
        return {}
    found = [d.physical_device_desc for d in list_local_devices() if d.name.endswith(device.name.partition(":")[2])]
    return {"device_name": found[0].partition("name: ")[2].partition(",")[0]} if found else {}


_DEVICE = re.compile(r"(?:/job:[^/]*)?(?:/replica:\d+)?(?:/task:\d+)?/?(?:device:)?([A-Za-z]\w*):(\d+)$")


def _memory_refused(device, function, what):
    """Returns the error of a function that asks for the memory in use on a device, which Weft does not count."""
    found = _DEVICE.match(str(device))
    if not found:
        return ValueError("Failed parsing device name: '%s'. Note a valid device string should at least contain a device type and a "
                          'device index, like "GPU:0".' % (device,))
    name = "/device:%s:%s" % (found[1].upper(), found[2])
    if name not in [d.name for d in list_logical_devices()]:
        return ValueError("No matching devices found for '%s'" % (device,))
    if name.startswith("/device:CPU"):
        return ValueError("%s for device '%s'" % (what, device))
    return NotImplementedError("tf.config.experimental.%s(device=%r): Weft does not count the memory in use on a GPU; the RunMetadata "
                               "of a run with trace_level=FULL_TRACE has what each op allocated" % (function, device))


def get_memory_info(device):
    """Raises an error, because Weft does not count the bytes in use: TensorFlow's ValueError for a CPU,
    NotImplementedError for a GPU.

    Args:
      device: its name, such as "GPU:0".
    """
    raise _memory_refused(device, "get_memory_info", "Allocator stats not available")


def get_memory_usage(device):
    """Raises an error, because Weft does not count the bytes in use on a device; see get_memory_info.

    Args:
      device: its name, such as "GPU:0".
    """
    raise _memory_refused(device, "get_memory_usage", "Allocator stats not available")


def reset_memory_stats(device):
    """Raises an error, because Weft does not count the bytes in use on a device; see get_memory_info.

    Args:
      device: its name, such as "GPU:0".
    """
    raise _memory_refused(device, "reset_memory_stats", "Cannot reset memory stats")


class ClusterDeviceFilters(metaclass=Named):
    """Says which devices of other tasks each task of a cluster sees."""

    def __init__(self):
        self._device_filters = {}

    def set_device_filters(self, job_name, task_index, device_filters):
        """Sets which devices a task sees.

        Args:
          job_name: the job of the task.
          task_index: its index.
          device_filters: a list of texts, such as "/job:ps".
        """
        assert all(isinstance(f, str) for f in device_filters)
        self._device_filters.setdefault(job_name, {})[task_index] = list(device_filters)


class DeviceAttributes:
    """A device as Session.list_devices returns it."""

    def __init__(self, name, device_type, memory_limit_bytes, incarnation=0):
        self.name, self.device_type, self.memory_limit_bytes, self.incarnation = (
            name, device_type, memory_limit_bytes, incarnation)

    memory_limit = property(lambda self: self.memory_limit_bytes)

    def __repr__(self):
        return "_DeviceAttributes(%s, %s, %d, %d)" % (self.name, self.device_type, self.memory_limit_bytes, self.incarnation)
