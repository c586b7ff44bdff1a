"""tf.Print."""
from weft._core.framework.build import op


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    return op("Print", name, input=input_, data=list(data), message=message or "", first_n=-1 if first_n is None else first_n,
              summarize=3 if summarize is None else summarize)
