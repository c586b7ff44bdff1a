"""Recipes of tf.flags: parsers, serializers and the classes of flags."""
RECIPES = """
tf.flags.ArgumentParser() ; ; it.parse('a')
tf.flags.ArgumentSerializer() ; ; it.serialize(3)
tf.flags.IntegerParser() ; lower_bound=3, upper_bound=1 ; it.parse('2')
tf.flags.FloatParser() ; lower_bound=3, upper_bound=1 ; it.parse('2')
tf.flags.BooleanParser() ; ; it.parse('t')
tf.flags.EnumParser(['a', 'B']) ; case_sensitive=False ; it.parse('b')
tf.flags.EnumClassParser(tf.VariableAggregation) ; case_sensitive=False ; it.member_names
tf.flags.BaseListParser(';', 'semi') ; token=',' ; it.parse('a;b')
tf.flags.ListParser() ; ; it.parse('a,b')
tf.flags.WhitespaceSeparatedListParser() ; comma_compat=True ; it.parse('a,b c')
tf.flags.ListSerializer(',') ; list_sep='+' ; it.serialize([1, 2])
tf.flags.CsvListSerializer(',') ; list_sep='+' ; it.serialize(['a', 'b'])
tf.flags.EnumClassSerializer(True) ; lowercase=False ; it.serialize(tf.VariableAggregation.SUM)
tf.flags.EnumClassListSerializer(',', lowercase=True) ; list_sep='+' ; it.serialize([tf.VariableAggregation.SUM] * 2)
tf.flags.Flag(tf.flags.IntegerParser(), tf.flags.ArgumentSerializer(), 'n', '3', 'help') ; serializer=None, default=5,
    help_string=None, short_name='s', boolean=True, allow_override=True, allow_override_cpp=True, allow_hide_cpp=True,
    allow_overwrite=False, allow_using_method_names=True ; uses.flag_parts(it)
tf.flags.BooleanFlag('n', True, 'help') ; default=False, help=None, short_name='s' ; uses.flag_parts(it)
tf.flags.EnumFlag('n', 'a', 'help', ['a', 'b']) ; default='b', help=None, enum_values=['a', '4'], short_name='s',
    case_sensitive=False ; uses.flag_parts(it)
tf.flags.EnumClassFlag('n', 'sum', 'help', tf.VariableAggregation) ; default='SUM', help=None, short_name='s',
    case_sensitive=True ; uses.flag_parts(it)
tf.flags.MultiFlag(tf.flags.IntegerParser(), tf.flags.ArgumentSerializer(), 'n', ['3'], 'help') ; ; uses.flag_parts(it)
tf.flags.MultiEnumClassFlag('n', 'sum', 'help', tf.VariableAggregation) ; default='mean', help=None,
    case_sensitive=True ; uses.flag_parts(it)
tf.flags.DEFINE(tf.flags.IntegerParser(), 'walk_made', 3, 'text') ; serializer=tf.flags.ArgumentSerializer(), default='4',
    required=True, flag_values=tf.flags.FlagValues(), module_name='given' ; uses.flag('walk_made')
tf.flags.DEFINE_flag(tf.flags.BooleanFlag('walk_flag', True, 'text')) ; required=True, flag_values=tf.flags.FlagValues(),
    module_name='given' ; uses.flag('walk_flag')
tf.flags.DEFINE_multi(tf.flags.IntegerParser(), tf.flags.ArgumentSerializer(), 'walk_multi', 3, 'text') ; default='4',
    required=True, serializer=None, flag_values=tf.flags.FlagValues(), module_name='given' ; uses.flag('walk_multi')
tf.flags.text_wrap('one two three') ; length=6, indent='>', firstline_indent='- '
tf.flags.doc_to_help('One line\\n  and more.')
"""
