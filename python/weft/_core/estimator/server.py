"""The server of a task that tf.estimator starts, once for each task however often training is called."""
from weft._core.platform import logging
from weft._core.session.cluster import Server

_started = {}


def start_server(config, session_config=None):
    """Returns the server of a RunConfig's task."""
    key = repr((config.cluster_spec.as_dict(), config.task_type, config.task_id))
    if key not in _started:
        logging.info("Start Tensorflow server.")
        _started[key] = Server(config.cluster_spec, config.task_type, config.task_id, config.protocol,
                               session_config or config.session_config)
    return _started[key]
