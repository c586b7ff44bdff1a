"""tf.config.experimental: devices under their earlier names."""
from weft._core.framework.eager_settings import (
    disable_mlir_bridge,
    enable_mlir_bridge,
    get_device_policy,
    get_synchronous_execution,
    set_device_policy,
    set_synchronous_execution,
)
from weft._core.public import publish as _publish
from weft._core.session.device_config import (
    ClusterDeviceFilters,
    LogicalDeviceConfiguration as VirtualDeviceConfiguration,
    enable_tensor_float_32_execution,
    get_device_details,
    get_logical_device_configuration as get_virtual_device_configuration,
    get_memory_growth,
    get_memory_info,
    get_memory_usage,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    reset_memory_stats,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_memory_growth,
    set_visible_devices,
    tensor_float_32_execution_enabled,
)

__all__ = [
    "ClusterDeviceFilters", "VirtualDeviceConfiguration", "disable_mlir_bridge", "enable_mlir_bridge",
    "enable_tensor_float_32_execution", "get_device_details", "get_device_policy", "get_memory_growth", "get_memory_info",
    "get_memory_usage", "get_synchronous_execution", "get_virtual_device_configuration", "get_visible_devices",
    "list_logical_devices", "list_physical_devices", "reset_memory_stats", "set_device_policy", "set_memory_growth",
    "set_synchronous_execution", "set_virtual_device_configuration", "set_visible_devices", "tensor_float_32_execution_enabled",
]
__getattr__ = _publish(__name__)
