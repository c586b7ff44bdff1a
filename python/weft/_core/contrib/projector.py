"""tf.contrib.tensorboard.plugins.projector: configures which embeddings TensorBoard shows, and their labels."""
import os

from weft._core.files.gfile import local, makedirs
from weft._core.framework.proto import message

SpriteMetadata = message("SpriteMetadata", "1 string image_path", "2 repeated int single_image_dim")
EmbeddingInfo = message("EmbeddingInfo", "1 string tensor_name", "2 string metadata_path", "3 string bookmarks_path",
                        "4 repeated int tensor_shape", (5, SpriteMetadata, "sprite"), "6 string tensor_path")
ProjectorConfig = message("ProjectorConfig", "1 string model_checkpoint_path", (2, EmbeddingInfo, "embeddings", "repeated"),
                          "3 string model_checkpoint_dir")


def visualize_embeddings(summary_writer, config):
    """Writes projector_config.pbtxt into the folder of a summary writer.

    Args:
      summary_writer: a tf.summary.FileWriter, or the folder itself.
      config: a ProjectorConfig.
    """
    logdir = summary_writer.get_logdir() if hasattr(summary_writer, "get_logdir") else summary_writer
    if logdir is None:
        raise ValueError("Expected logdir to be a path, but got None")
    logdir = os.fspath(logdir.decode() if isinstance(logdir, bytes) else logdir)
    makedirs(logdir)
    with open(local(os.path.join(logdir, "projector_config.pbtxt")), "w") as f:
        f.write(str(config))
