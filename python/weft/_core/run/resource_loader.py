"""tensorflow.python.platform.resource_loader: finds files beside the program's."""
import os
import sys


def get_data_files_path():
    """Returns the folder of the file that calls this function."""
    return os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename))


def get_path_to_datafile(path):
    return os.path.join(os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename)), path)


def get_root_dir_with_all_resources():
    return os.path.dirname(os.path.abspath(sys._getframe(1).f_code.co_filename))


def load_resource(path):
    with open(path, "rb") as f:
        return f.read()


def readahead_file_path(path, readahead="128M"):
    return path
