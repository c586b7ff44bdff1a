"""tf.flags: definitions, command lines, bounds and conditions mean what they mean in TensorFlow."""
import enum

import pytest

import weft
from both import oracle


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def define(flags, values):
    flags.DEFINE_integer("n", 3, "", lower_bound=0, upper_bound=10, flag_values=values)
    flags.DEFINE_float("f", 0.5, "", lower_bound=0.0, flag_values=values)
    flags.DEFINE_string("s", "x", "", short_name="q", flag_values=values)
    flags.DEFINE_boolean("b", False, "", flag_values=values)
    flags.DEFINE_bool("c", True, "", flag_values=values)
    flags.DEFINE_enum("e", "a", ["a", "b"], "", flag_values=values)
    flags.DEFINE_list("l", ["1", "2"], "", flag_values=values)
    flags.DEFINE_spaceseplist("sl", "a b", "", flag_values=values)
    flags.DEFINE_multi_string("ms", ["u"], "", flag_values=values)
    flags.DEFINE_multi_integer("mi", [1], "", lower_bound=0, flag_values=values)
    flags.DEFINE_multi_float("mf", [1.5], "", flag_values=values)
    flags.DEFINE_multi_enum("me", ["a"], ["a", "b"], "", flag_values=values)
    flags.DEFINE_enum_class("ec", Color.RED, Color, "", flag_values=values)
    flags.DEFINE_multi_enum_class("mec", [Color.RED], Color, "", flag_values=values)
    flags.DEFINE_alias("al", "s", flag_values=values)
    flags.DEFINE_integer("none", None, "", flag_values=values)
    return {n: values[n] for n in "n f s b c e l sl ms mi mf me ec mec al none".split()}


def outcome(fn):
    try:
        return fn()
    except Exception as e:  # noqa: BLE001 - that is the question
        return "%s: %s" % (type(e).__name__, e)


def both(program):
    said = [program(tf.flags, tf.flags.FlagValues()) for tf in (weft, oracle)]
    assert said[0] == said[1]
    return said[0]


LINES = ["", "--n=4 --f 2 --s=y --b --noc --e=b --l=a,b --ms=a --ms=b --mi=3 --mi=4 --mf=2 --me=b --ec=BLUE --mec=red rest",
         "--n=11", "--n=-1", "--n=abc", "--f=-1", "--e=z", "--unknown=3", "-q zz -n 5 a b --n=6", "a --n=5 -- --n=6",
         "--b=true --c=false", "--nob=1", "--b=maybe", "--n", "--ec=green", "--me=z", "--mi=-1", "--al=www", "--l=", "--n=0x5",
         "--n=1e1", "--none=3", "--undefok=zz --zz=3"]


@pytest.mark.parametrize("known_only", [False, True])
@pytest.mark.parametrize("line", LINES)
def test_command_lines(line, known_only):
    def program(flags, values):
        made = define(flags, values)
        rest = outcome(lambda: values(["prog", *line.split()], known_only=known_only))
        values.mark_as_parsed()
        return rest, {n: (getattr(values, n), f.default, n != "al" and bool(f.present)) for n, f in made.items()}
    both(program)


def test_a_flag_file_stands_for_its_lines(tmp_path):
    (tmp_path / "flags").write_text("--n=7\n# a comment\n\n--s=file\n")

    def program(flags, values):
        define(flags, values)
        rest = values(["prog", "--flagfile=%s" % (tmp_path / "flags"), "more"])
        return rest, values.n, values.s, outcome(lambda: values(["prog", "--flagfile=/gone"])).partition(":")[0]
    both(program)


def test_definitions_that_are_refused():
    def program(flags, values):
        given = {"flag_values": values}
        return [outcome(f) for f in (
            lambda: flags.DEFINE_integer("x", 20, "", upper_bound=10, **given),
            lambda: flags.DEFINE_integer("x", 0, "", lower_bound=1, **given),
            lambda: flags.DEFINE_float("x", 1., "", upper_bound=0., **given),
            lambda: flags.DEFINE_integer("x", "abc", "", **given), lambda: flags.DEFINE_enum("x", "z", ["a"], "", **given),
            lambda: flags.DEFINE_enum("x", None, [], "", **given), lambda: flags.DEFINE_boolean("x", "maybe", "", **given),
            lambda: flags.DEFINE_float("x", "q", "", **given),
            lambda: flags.DEFINE_enum_class("x", None, int, "", **given))]
    both(program)


def test_a_flag_is_defined_once():
    def program(flags, values):
        flags.DEFINE_integer("twice", 1, "help", flag_values=values)
        return outcome(lambda: flags.DEFINE_integer("twice", 1, "help", flag_values=values)).partition(".")[0]
    assert both(program) == "DuplicateFlagError: The flag 'twice' is defined twice"


def test_values_can_be_set_and_unset():
    def program(flags, values):
        define(flags, values)
        held = flags.DEFINE_integer("held", 4, "", flag_values=values)
        values(["prog", "--n=5"])
        out = [held.value, held.name, held.default, held.present, values.n, "n" in values]
        out += [outcome(lambda: values.nope).partition(":")[0], outcome(lambda: values["nope"]),
                outcome(lambda: setattr(values, "nope", 1))]
        out.append(outcome(lambda: setattr(values, "n", 99)))
        values.n = 9
        values.set_default("f", 2.5)
        flags.set_default(held, 7)
        flags.override_value(held, 8)
        out += [values.n, values.f, values["f"].default, values.held, values["n"].using_default_value]
        out += [values[n].serialize() for n in ("n", "b", "c", "s", "l", "ms", "mi", "none")]
        out += [values[n].flag_type() for n in ("n", "f", "b", "s", "l", "ms", "mi", "e")]
        values.unparse_flags()
        out.append(values.is_parsed())
        values.mark_as_parsed()
        return out + [values.n, values.get_flag_value("none", 3), sorted(set(values.flag_values_dict()) - {"q"}),

                      list(flags.flag_dict_to_args({"a": 1, "b": True, "c": False, "d": ["x", "y"], "e": None}))]
    both(program)


def test_conditions_on_flags():
    def program(flags, values):
        define(flags, values)
        given = {"flag_values": values}
        flags.DEFINE_string("t", None, "", **given)
        flags.DEFINE_integer("req", None, "", required=True, **given)
        flags.register_validator("n", lambda v: v > 0, message="n must be positive", **given)
        flags.register_multi_flags_validator(["n", "f"], lambda v: v["n"] < 9, "too much", **given)
        flags.mark_flags_as_mutual_exclusive(["t", "none"], **given)
        flags.mark_bool_flags_as_mutual_exclusive(["b", "c"], required=True, **given)

        @flags.validator("s", message="no z", **given)
        def _(value):
            if value == "y":
                raise flags.ValidationError("not y either")
            return value != "z"
        lines = ["", "--req=1", "--req=1 --n=0", "--req=1 --n=9", "--req=1 --s=z", "--req=1 --s=y", "--req=1 --t=a --none=1",
                 "--req=1 --b", "--req=1 --n=2 --s=a"]
        out = []
        for line in lines:
            values.unparse_flags()
            out.append(outcome(lambda: values(["prog", *line.split()])))  # noqa: B023
        return out + [outcome(lambda: setattr(values, "n", -5))]
    both(program)


def test_flags_are_added_and_removed():
    def program(flags, values):
        define(flags, values)
        more = flags.FlagValues()
        flags.DEFINE_integer("extra", 5, "more", flag_values=more)
        values.append_flag_values(more)
        values(["prog", "--extra=6", "--n=2"])
        out = [values.extra, more["extra"].value, sorted(values.flag_values_dict().items(), key=str)]
        with pytest.raises(flags.DuplicateFlagError):
            values.append_flag_values(more)
        values.remove_flag_values(more)
        values.remove_flag_values(["n"])
        return out + ["extra" in values, "n" in values, "s" in values, outcome(lambda: values.remove_flag_values(["nothing"]))]
    both(program)
