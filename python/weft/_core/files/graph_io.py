"""tf.train.write_graph: writes a graph to a file."""
import os

from weft._core.files.gfile import local
from weft._core.framework.graph import Graph


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    made = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    os.makedirs(local(logdir), exist_ok=True)
    path = os.path.join(logdir, name)
    with open(local(path), "w" if as_text else "wb") as f:
        f.write(str(made) if as_text else made.SerializeToString())
    return path
