"""The objects under a root, as a checkpoint describes them: numbers, names of children, keys of values, slots.

A key is the first path to an object in breadth-first order, hence a shortest one. The key of an optimizer's slot joins
the key of its variable, the key of the optimizer and the name of the slot.
"""
from weft._core.framework import protos
from weft._core.framework.trackable import children_of, saveables_of
from weft._core.ops.variables import Variable

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def escaped(name):
    """Returns a name with the escapes that it needs as one part of a key."""
    return name.replace(".", "..").replace("/", ".S")


def _is_optimizer(value):
    return callable(getattr(value, "get_slot_names", None)) and callable(getattr(value, "get_slot", None))


def slot_of(optimizer, variable, name):
    return optimizer.get_slot(variable, name) if isinstance(variable, Variable) else None


class ObjectGraph:
    """The objects that are reachable from a root now, with their keys."""

    def __init__(self, root):
        self.objects, self.children, self.keys, self.slots, self._numbers = [], [], [], {}, {}
        self._add(root, "")
        at = 0
        while at < len(self.objects):
            rows = []
            for name, child in children_of(self.objects[at]).items():
                key = escaped(name)
                rows.append((name, self._add(child, self.keys[at] + "/" + key if self.keys[at] else key)))
            self.children.append(rows)
            at += 1
        self._add_slots()

    def _add(self, value, key):
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            self.keys.append(key)
        return number

    def _add_slots(self):
        known = list(self.objects)
        for number, optimizer in enumerate(known):
            for name in optimizer.get_slot_names() if _is_optimizer(optimizer) else ():
                for original, variable in enumerate(known):
                    slot = slot_of(optimizer, variable, name)
                    if slot is None:
                        continue
                    key = "%s/.OPTIMIZER_SLOT/%s/%s" % (self.keys[original], self.keys[number], escaped(name))
                    at = self._add(slot, key)
                    self.children += [[]] * (at + 1 - len(self.children))
                    self.slots.setdefault(number, []).append((original, name, at))

    def values(self):
        """Returns (number of the object, name of the attribute, key in the checkpoint, saved object) for each value."""
        return [(number, name, "%s/.ATTRIBUTES/%s" % (self.keys[number], escaped(name)), saved)
                for number, value in enumerate(self.objects) for name, saved in saveables_of(value).items()]

    def to_proto(self):
        made = protos.TrackableObjectGraph()
        for number in range(len(self.objects)):
            node = made.nodes.add()
            for name, child in self.children[number]:
                node.children.add(node_id=child, local_name=name)
            for original, name, slot in self.slots.get(number, ()):
                node.slot_variables.add(original_variable_node_id=original, slot_name=name, slot_variable_node_id=slot)
        held = set(self.slots)
        for number, name, key, saved in self.values():
            made.nodes[number].attributes.add(name=name, full_name=_full_name(saved), checkpoint_key=key)
            held.add(number)
        self._mark(made, held)
        return made

    def _mark(self, made, held):
        """Records for each object whether it or an object below it has a value."""
        parents = {}
        for number, rows in enumerate(self.children):
            for _, child in rows:
                parents.setdefault(child, []).append(number)
        waiting = list(held)
        while waiting:
            for parent in parents.get(waiting.pop(), ()):
                if parent not in held:
                    held.add(parent)
                    waiting.append(parent)
        for number, node in enumerate(made.nodes):
            node.has_checkpoint_values.SetInParent()
            if number in held:
                node.has_checkpoint_values.value = True


def _full_name(saved):
    """Returns the key of a value in checkpoints of tf.train.Saver."""
    return saved._shared_name if isinstance(saved, Variable) else getattr(saved, "name", "")


def path_names(proto):
    """Returns for each object the path that errors show, such as (root).model.kernel."""
    names = {0: "(root)"}
    waiting = [0]
    for at in waiting:
        for child in proto.nodes[at].children:
            if child.node_id not in names:
                names[child.node_id] = "%s.%s" % (names[at], child.local_name)
                waiting.append(child.node_id)
    for at, node in enumerate(proto.nodes):
        for slot in node.slot_variables:
            names[slot.slot_variable_node_id] = "%s's state '%s' for %s" % (
                names.get(at), slot.slot_name, names.get(slot.original_variable_node_id))
    return names


def read_proto(reader):
    """Returns the object graph of a checkpoint, or None if tf.train.Saver wrote the checkpoint."""
    if not reader.has_tensor(OBJECT_GRAPH_KEY):
        return None
    value = reader.get_tensor(OBJECT_GRAPH_KEY)
    return protos.TrackableObjectGraph.FromString(value if isinstance(value, bytes) else value.item())


def list_objects(root):
    """Returns all objects under a root, including the slots of optimizers."""
    return list(ObjectGraph(root).objects)
