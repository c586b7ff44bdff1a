"""Decorators of tensorflow.python.util: keyword_args, dispatch, doc_controls, decorator_utils."""
import functools


def keyword_args_only(func):
    """Returns a function that takes keywords only."""
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        if args:
            raise ValueError("The function %s only accepts keyword arguments. Do not pass positional arguments. Received the following "
                             "positional arguments: %s" % (func.__name__, args))
        return func(**kwargs)
    return wrapper


def add_dispatch_support(target=None, iterable_parameters=None):
    """Returns a decorator that changes nothing: functions take any value that converts to a tensor."""
    return (lambda f: f) if target is None else target


def _as_it_is(target):
    """Returns a decorator that changes nothing; its arguments tell how a name is documented."""
    return target


do_not_generate_docs = do_not_doc_inheritable = for_subclass_implementers = do_not_doc_in_subclasses = doc_private = _as_it_is
add_dispatch_list = add_fallback_dispatch_list = _as_it_is


def get_qualified_name(function):
    """Returns the name of a function with its classes."""
    return getattr(function, "__qualname__", function.__name__)
