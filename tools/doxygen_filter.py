#!/usr/bin/env python3
"""Gives Doxygen the public headers as it wants them: our comments are prose, not markup.

A comment before a declaration becomes /** */, one behind it /**< */, the first of a file its description; banners go.
Signs that Doxygen would read as markup are escaped.
"""
import re
import sys

TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)


def escape(text):
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"[\\@#%$]|--|::", r"\\\g<0>", text)


def convert(text):
    seen = []

    def replace(match):
        token = match.group(0)
        if token[0] == '"':
            return token
        body = token[2:-2]
        banner = re.fullmatch(r"\s*-{3,}\s*(.*?)\s*-{3,}\s*", body)
        if banner or "clang-format" in body:
            return ""
        lines = [re.sub(r"^ \* ?", "", line) for line in body.strip().split("\n")]
        if not seen:
            seen.append(True)
            return "/** @file\n" + escape("\n".join(lines)) + " */"
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        mark = "/**< " if before.strip() else "/** "
        return mark + escape("\n".join(line.strip() for line in lines)) + " */"

    return TOKEN.sub(replace, text)


if __name__ == "__main__":
    sys.stdout.write(convert(open(sys.argv[1], encoding="utf-8").read()))
