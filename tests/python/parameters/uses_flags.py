"""What recipes do with flags."""


class FlagUses:
    """The ways to use a flag, for one system."""

    def flag(self, name):
        """The value of a flag, which is then undefined."""
        flags = self.tf.app.flags.FLAGS
        try:
            if not flags.is_parsed():
                flags(["program"])
            return getattr(flags, name)
        finally:
            for defined in {name, "given"}.intersection(flags):
                delattr(flags, defined)

    def flag_parts(self, flag):
        """What a flag is made of, and what two values of a command line make of it."""
        names = ("name", "default", "help", "short_name", "boolean", "default_as_str", "allow_override", "allow_override_cpp",
                 "allow_hide_cpp", "allow_overwrite", "allow_using_method_names")
        found = [str(getattr(flag, n)) for n in names] + [flag.flag_type()]
        for text in ("4", "SUM"):
            try:
                flag.parse(text)
            except self.tf.flags.Error as e:
                found.append(str(e))
        return [*found, str(flag.value), flag.present, flag.serialize()]
