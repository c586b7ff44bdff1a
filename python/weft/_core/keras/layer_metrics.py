"""Metrics that layers and models add with add_metric."""
from weft._core.keras import metrics


def add(layer, value, aggregation, name):
    """Adds the mean of a tensor over batches, or the result of a metric object, to a layer."""
    if aggregation not in (None, "mean"):
        raise ValueError("We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`%s`" % aggregation)
    found = getattr(value, "_metric_obj", None)
    if aggregation is None and found is None:
        raise ValueError("Using the result of calling a `Metric` object when calling `add_metric` is the only way without an aggregation: "
                         "pass aggregation='mean', or the result of a tf.keras.metrics.Metric.")
    if found is None:
        if name is None:
            raise ValueError("Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), name='mean_activation', "
                             "aggregation='mean')`")
        found = metrics.Mean(name=name)
        value = found(value)
    elif name is not None and found.name != name:
        found._name = name
    if all(m is not found for m in layer._metrics):
        layer._metrics.append(found)
    found._result_tensor = value
