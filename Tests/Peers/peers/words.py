"""Conversion of Bumble's values to the form of CLI.md."""


def text(uuid):
    return uuid.to_hex_str("-").lower()


def names(properties):
    words = {"WRITE_WITHOUT_RESPONSE": "writeWithoutResponse"}
    return sorted(words.get(name, name.lower()) for name in str(properties).split("|"))
