"""Continues a series with a model that export_saved_model wrote."""
import numpy as np

from weft._core.contrib.timeseries.estimators import _STATE
from weft._core.contrib.timeseries.inputs import _continued
from weft._core.contrib.timeseries.keys import PredictionFeatures


def predict_continuation(continue_from, signatures, session, steps=None, times=None, exogenous_features=None):
    """Predicts what follows an evaluated series.

    Args:
      continue_from: what the evaluate method of the model returned.
      signatures: the MetaGraphDef that tf.saved_model.loader.load returned.
      session: the session into which the model was loaded.
      steps: how many steps after the last time to predict; give this or times.
      times: the times to predict: a vector, or a row for each series.
      exogenous_features: must be None: other features are not used.
    """
    if exogenous_features is not None:
        raise NotImplementedError("predict_continuation: exogenous_features is not in Weft: leave it out")
    signature = signatures.signature_def["predict"]
    feeds = {PredictionFeatures.TIMES: _continued(np.asarray(continue_from["times"])[:, -1], steps, times)}
    feeds.update({_STATE % i: part for i, part in enumerate(continue_from["start_tuple"])})
    return session.run({name: info.name for name, info in signature.outputs.items()},
                       {signature.inputs[name].name: value for name, value in feeds.items()})
