"""tf.resource_loader: files beside the program's."""
from weft._core.public import publish as _publish
from weft._core.run.resource_loader import (
    get_data_files_path,
    get_path_to_datafile,
    get_root_dir_with_all_resources,
    load_resource,
    readahead_file_path,
)

__all__ = [
    "get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources", "load_resource",
    "readahead_file_path",
]
__getattr__ = _publish(__name__)
