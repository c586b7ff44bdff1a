"""The collections of a graph: Python lists that are kept in step with the library's."""
import re

from weft._core.framework import errors, protos

_VARIABLE_LISTS = ("variables", "trainable_variables", "local_variables", "moving_average_variables", "model_variables",
                   "metric_variables", "global_step")
# The collections, besides those of variables, whose items the library holds as messages.
_MESSAGE_LISTS = ("queue_runners", "savers", "cond_context", "while_context")


class GraphCollections:
    """The collection methods of a graph."""

    def add_to_collection(self, name, value):
        self._check_not_finalized()
        self._collection(name).append(value)
        self._tell(name, value)

    def add_to_collections(self, names, value):
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def _tell(self, key, value):
        """Adds a value to the library's list if the library can hold it, so that nodes built in C see it."""
        from weft._core.framework.graph import Operation, Tensor
        from weft._core.ops.variables import Variable
        item = None
        if isinstance(value, Variable) and key in _VARIABLE_LISTS:
            item = value.to_proto().SerializeToString()
        elif isinstance(value, (Tensor, Operation, Variable)):
            item = value.name
        elif hasattr(value, "to_proto") and key in _MESSAGE_LISTS:
            made = value.to_proto()
            item = None if made is None else made.SerializeToString()
        elif isinstance(value, str) and not self._is_message_list(key):
            item = value.encode()
        elif isinstance(value, (bytes, int, float)) and not self._is_message_list(key):
            item = value
        if item is None or not isinstance(key, str):
            return
        self._told.setdefault(key, []).append(value)
        try:
            self._c.list_add(key, item)
            self._seen[key] = self._seen.get(key, 0) + 1
        except (errors.InvalidArgumentError, OverflowError):
            pass  # Only Python keeps a collection of another kind.

    @staticmethod
    def _is_message_list(key):
        """Returns whether the items of a collection are written as messages, which holds for those with to_proto."""
        return key in _VARIABLE_LISTS or key in _MESSAGE_LISTS

    def _sync_lists(self):
        """Copies collections that the program changed through get_collection_ref to the library."""
        for key, items in self._collections.items():
            told = self._told.get(key, [])
            if isinstance(key, str) and [id(i) for i in self._tellable(key)] != [id(i) for i in told]:
                self._c.list_clear(key)
                self._told[key], self._seen[key] = [], 0
                for item in items:
                    self._tell(key, item)

    def _tellable(self, key):
        """Returns the items of a collection that the library can hold."""
        from weft._core.framework.graph import Operation, Tensor
        from weft._core.ops.variables import Variable
        if self._is_message_list(key):
            return [i for i in self._collection(key) if hasattr(i, "to_proto")]
        return [i for i in self._collection(key) if isinstance(i, (Tensor, Operation, Variable, str, bytes, int, float))]

    def _collection(self, key):
        """Returns the Python list, after adding new items of the library's list."""
        items = self._collections.setdefault(key, [])
        if isinstance(key, str):
            size = self._c.list_size(key)
            for i in range(self._seen.get(key, 0), size):
                items.append(self._from_library(key, self._c.list_item(key, i)))
                self._told.setdefault(key, []).append(items[-1])
            self._seen[key] = size
        return items

    def _from_library(self, key, item):
        from weft._core.ops.variables import variable_from_def
        from weft._core.train.coordinator import QueueRunner
        if isinstance(item, bytes):
            if key == "queue_runners":
                with self.as_default():
                    return QueueRunner(queue_runner_def=protos.QueueRunnerDef.FromString(item))
            if key in ("cond_context", "while_context"):
                from weft._core.train.context_protos import read_context
                return read_context(self, key, item)
            if key in _VARIABLE_LISTS:
                return variable_from_def(self, protos.VariableDef.FromString(item))
            return item
        if isinstance(item, str):
            try:
                found = self._variables.get(item)
                return self.as_graph_element(item) if found is None else found
            except (KeyError, ValueError):
                return item
        return item

    def get_collection_ref(self, name):
        return self._collection(name)

    def get_collection(self, name, scope=None):
        items = self._collection(name)
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and pattern.match(i.name)]

    def get_all_collection_keys(self):
        return [k for k in {**self._collections, **dict.fromkeys(self._c.lists())} if self._collection(k)]

    @property
    def collections(self):
        return self.get_all_collection_keys()

    def clear_collection(self, name):
        self._check_not_finalized()
        self._c.list_clear(name)
        self._collections.pop(name, None)
        self._seen.pop(name, None)
        self._told.pop(name, None)
