"""tf.config: devices and threads of the sessions that are given no ConfigProto."""
from weft._core.ops.graph_function import (
    experimental_functions_run_eagerly,
    experimental_run_functions_eagerly,
    functions_run_eagerly,
    run_functions_eagerly,
)
from weft._core.public import publish as _publish
from weft._core.session.device_config import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_soft_device_placement,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_soft_device_placement,
    set_visible_devices,
)
from weft.config import experimental, optimizer, threading

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental",
    "experimental_functions_run_eagerly", "experimental_run_functions_eagerly", "functions_run_eagerly",
    "get_logical_device_configuration", "get_soft_device_placement", "get_visible_devices", "list_logical_devices",
    "list_physical_devices", "optimizer", "run_functions_eagerly", "set_logical_device_configuration", "set_soft_device_placement",
    "set_visible_devices", "threading",
]
__getattr__ = _publish(__name__)
