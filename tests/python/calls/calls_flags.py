"""tf.flags: parsers, serializers, the classes of flags, and the texts of help."""
import enum
import os

from machine import case


class Color(enum.Enum):
    RED = 1
    Blue = 2


class Letters(enum.Enum):
    x = 1
    X = 2


def said(f, *args, **kwargs):
    """What a call returns, or its error."""
    try:
        found = f(*args, **kwargs)
        return found.name if isinstance(found, enum.Enum) else found
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__, [str(a) for a in e.args]


def shown(flag, *texts):
    names = ("name", "default", "help", "short_name", "value", "boolean", "present", "using_default_value", "default_as_str",
             "default_unparsed", "allow_override", "allow_overwrite", "allow_override_cpp", "allow_hide_cpp",
             "allow_using_method_names")
    out = [type(flag).__name__, [str(getattr(flag, n)) for n in names], flag.flag_type(), said(flag.serialize)]
    for text in texts:
        out.append([said(flag.parse, text), str(flag.value), flag.present, flag.using_default_value, said(flag.serialize)])
    flag.unparse()
    return [*out, str(flag.value), flag.present]


@case
def numbers_and_truth_are_parsed(tf):
    out = [[said(tf.flags.BooleanParser().parse, x) for x in ("yes", "True", "T", "1", "no", "0", "on", 1, 0, 2, 1.0, True, None)]]
    out.append([said(tf.flags.IntegerParser().parse, x) for x in ("5", "0x1f", "0o17", "-0x3", "+7", 5, 5.0, "5.5", None, True)])
    out.append([said(tf.flags.FloatParser().parse, x) for x in ("5", "1e3", 5, 5.0, "x", None, True)])
    for lower, upper in ((None, None), (0, None), (1, None), (None, 0), (None, -1), (2, 5), (3, None), (None, 3)):
        whole = tf.flags.IntegerParser(lower_bound=lower, upper_bound=upper)
        number = tf.flags.FloatParser(lower_bound=lower, upper_bound=upper)
        out.append([whole.syntactic_help, number.syntactic_help, said(whole.parse, "9"), said(number.parse, "-9"),
                    whole.is_outside_bounds(4)])
    text = tf.flags.ArgumentParser()
    return [*out, text.parse("x"), said(text.parse, 3), text.syntactic_help, text.flag_type(), whole.flag_type(),
            number.flag_type(), tf.flags.BooleanParser().flag_type()]


@case
def texts_of_a_set_and_members_are_parsed(tf):
    exact = tf.flags.EnumParser(["a", "B"])
    either = tf.flags.EnumParser(["a", "B"], case_sensitive=False)
    out = [exact.flag_type(), exact.syntactic_help, said(exact.parse, "b"), said(either.parse, "b"),
           said(tf.flags.EnumParser, []), said(tf.flags.EnumParser, "abc"), either.enum_values]
    for case_sensitive in (True, False):
        members = tf.flags.EnumClassParser(Color, case_sensitive=case_sensitive)
        out.append([members.member_names, members.flag_type(), members.enum_class.__name__,
                    [said(members.parse, x) for x in ("RED", "red", "blue", "Blue", "z", Color.RED)]])
    return [*out, said(tf.flags.EnumClassParser, 3), said(tf.flags.EnumClassParser, Letters, case_sensitive=False),
            said(tf.flags.EnumClassParser, enum.Enum("Z", []))]


@case
def lists_are_parsed_and_written(tf):
    out = []
    for parser in (tf.flags.ListParser(), tf.flags.WhitespaceSeparatedListParser(),
                   tf.flags.WhitespaceSeparatedListParser(comma_compat=True), tf.flags.BaseListParser(token=";", name="semi")):
        out.append([parser.flag_type(), parser.syntactic_help,
                    [said(parser.parse, x) for x in ("a,b c", '"a,b",c', '"a', "", ["q"], " a ; b ")]])
    return [*out, said(tf.flags.BaseListParser), tf.flags.ArgumentSerializer().serialize(3),
            tf.flags.ListSerializer("+").serialize([1, "b"]), tf.flags.CsvListSerializer(",").serialize(["a,b", "c"]),
            tf.flags.EnumClassSerializer(lowercase=True).serialize(Color.RED),
            tf.flags.EnumClassSerializer(lowercase=False).serialize(Color.RED),
            tf.flags.EnumClassListSerializer("+", lowercase=True).serialize([Color.RED, Color.Blue]),
            tf.flags.EnumClassListSerializer("+", lowercase=True).serialize(Color.RED)]


@case
def classes_of_flags(tf):
    whole, text = tf.flags.IntegerParser(), tf.flags.ArgumentSerializer()
    return [
        shown(tf.flags.Flag(whole, text, "n", "3", "help text", short_name="s"), "4", "x", 7),
        shown(tf.flags.Flag(whole, None, "n", 3, None, allow_overwrite=False), "4", "5"),
        shown(tf.flags.BooleanFlag("b", "true", "h"), "false", True),
        shown(tf.flags.EnumFlag("e", "a", "h", ["a", "b"]), "b", "c"),
        shown(tf.flags.EnumFlag("e", None, "", ["a", "b"], short_name="q", case_sensitive=False), "B"),
        shown(tf.flags.EnumClassFlag("e", Color.RED, "h", Color), "blue", "Color.RED"),
        shown(tf.flags.EnumClassFlag("e", "Blue", "h", Color, case_sensitive=True), "RED", "red"),
        shown(tf.flags.MultiFlag(whole, text, "m", [1, 2], "h"), "3", "4", [5, 6]),
        shown(tf.flags.MultiFlag(whole, text, "m", "1", "h"), "3"), shown(tf.flags.MultiFlag(whole, text, "m", None, "h")),
        shown(tf.flags.MultiEnumClassFlag("m", [Color.RED], "h", Color), "blue", "red"),
        shown(tf.flags.MultiEnumClassFlag("m", "RED", "h", Color, case_sensitive=True), "Blue", "red"),
        said(tf.flags.Flag, whole, text, "n", "x", "help text"), said(tf.flags.EnumFlag, "e", "z", "h", ["a"]),
        said(tf.flags.EnumClassFlag, "e", "z", "h", Color)]


@case
def flags_are_defined_from_parsers(tf):
    values = tf.flags.FlagValues()
    bounded = tf.flags.IntegerParser(2, 5)
    one = tf.flags.DEFINE(bounded, "d", 3, "help", flag_values=values, serializer=tf.flags.ArgumentSerializer())
    out = [one.name, one.default, one.present, said(values, ["p", "--d=4"]), values.d, said(values, ["p", "--d=9"])]
    flag = tf.flags.DEFINE_flag(tf.flags.BooleanFlag("q", None, "h"), flag_values=values)
    tf.flags.DEFINE_multi(tf.flags.FloatParser(), tf.flags.ArgumentSerializer(), "mm", 1.5, "h", flag_values=values)
    out += [flag.name, values.q, values.mm, said(values, ["p", "--mm=1", "--mm=2", "--noq"]), values.mm, values.q]
    out.append(said(tf.flags.DEFINE_flag, tf.flags.BooleanFlag("append_flags_into_file", None, "h"), flag_values=values))
    tf.flags.DEFINE_string("validate_all_flags", None, "h", flag_values=values, allow_using_method_names=True)
    tf.flags.DEFINE_integer("i", 4, "h", flag_values=values)
    tf.flags.DEFINE_integer("i", 3, "h", flag_values=values, allow_override=True)
    out += [values["i"].default, said(tf.flags.DEFINE, bounded, "r", 3, "h", flag_values=values, required=True)]
    values.i = "5"
    return [*out, values.i, values.flags_into_string()]


@case
def texts_of_help(tf):
    os.environ["COLUMNS"] = "90"
    doc = "One line.\n\n    More lines here\n    and here.\n\n      indented\n      code\n    back.\n    "
    try:
        return [tf.flags.text_wrap("a b c " * 30), tf.flags.text_wrap("one two three\nfour five  six\n\nseven", 10),
                tf.flags.text_wrap("one two three four", length=12, indent="  ", firstline_indent="> "),
                said(tf.flags.text_wrap, "a", 3, "    "), tf.flags.text_wrap("x\ty abcdefghijklmnopq", 8),
                tf.flags.doc_to_help(doc), tf.flags.doc_to_help(""), tf.flags.doc_to_help("  a\nb"), tf.flags.get_help_width(),
                issubclass(tf.flags.FlagNameConflictsWithMethodError, tf.flags.Error)]
    finally:
        del os.environ["COLUMNS"]


@case
def flags_of_modules(tf):
    """The modules are given by name, since a case's own module is imported in two ways."""
    flags = tf.flags.FlagValues()
    tf.flags.DEFINE_boolean("first", True, "Yes or no.", flag_values=flags, module_name="some.module", short_name="f")
    tf.flags.DEFINE_enum("second", "one", ["one", "two"], "Which.", flag_values=flags, module_name="some.module")
    tf.flags.DEFINE_integer("third", 3, "A number.", flag_values=flags, module_name="other")
    names = lambda found: sorted(f.name for f in found)
    tables = lambda: [{m: names(f) for m, f in table.items()}
                      for table in (flags.flags_by_module_dict(), flags.key_flags_by_module_dict())]
    out = [tables(), [names(f) for f in flags.flags_by_module_id_dict().values()],
           [flags.find_module_defining_flag(n) for n in ("first", "f", "third", "none")],
           flags.find_module_defining_flag("none", "default"), flags.find_module_id_defining_flag("none", 7)]
    flags.register_key_flag_for_module("other", flags["first"])
    out += [tables(), names(flags.get_flags_for_module("other")), names(flags.get_key_flags_for_module("other")),
            names(flags.get_key_flags_for_module(os)), flags.module_help("other"), flags.module_help(os),
            flags.get_help(), flags.get_help(prefix="  ", include_special_flags=False)]
    flags["fourth"] = tf.flags.Flag(tf.flags.ArgumentParser(), None, "fourth", "v", "An item.")
    flags.register_flag_by_module("fourths", flags["fourth"])
    flags.register_flag_by_module_id(12, flags["fourth"])
    out += [flags.find_module_defining_flag("fourth"), flags.find_module_id_defining_flag("fourth"),
            said(lambda: flags.__setitem__("fifth", 3)), said(lambda: tf.flags.adopt_module_key_flags("name", flags))]
    del flags.third
    return [*out, tables(), flags.find_module_defining_flag("third")]


@case
def arguments_before_flags(tf):
    flags = tf.flags.FlagValues()
    tf.flags.DEFINE_integer("number", 3, "A number.", flag_values=flags)
    with open("flags.txt", "w") as file:
        file.write("--number=7\n# a comment\n//another\n\n--number=8\n")
    out = [flags.is_gnu_getopt(), flags(["program", "word", "--number=4"]), flags.number]
    flags.set_gnu_getopt(False)
    out += [flags.is_gnu_getopt(), flags(["program", "word", "--number=5"]), flags.number]
    for line in (["--flagfile=flags.txt", "word", "--number=1"], ["word", "--flagfile=flags.txt"], ["--flagfile", "flags.txt"],
                 ["--", "--flagfile=flags.txt"], ["--flagfile=none"], ["--flagfile"]):
        out += [said(flags.read_flags_from_files, ["program", *line], force) for force in (True, False)]
    return out
