"""Texts made to cost much where a text is looked through: long runs, half matches, encodings."""

import base64
import random
import string
from typing import Final
from urllib.parse import quote

_SEED: Final = 7
_WORDS: Final = string.ascii_letters + string.digits
_SIGNS: Final = tuple("a0_-.=:/\\ \n\"'`(@%&é\u200b\uff21")
_BEGUN: Final = (  # what a rule begins with, and does not end
    "key=", "key=(", "password=", "password=(", 'password = "', "password a a ", "Pass=", "mdp ",
    "secret is ", "token ", "key a a ", "key:a,value:", '"name":"password", ', "=:", "=   ",
    "a://", "a://a:aaa", "https://a:b@", "x-", "bearer ", "authorization: bearer ", "?sig=",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJ-", "eyJaaaaaaaaaa-",
    "eyJaaaaaaaaaaaa.eyJ", "sk-", "sk_ab_cd_", "SG.", "12345678:", "--password ", "login a ",
    "mysql -", "name: ", "a:22:b:", "*:*:*:", "**", "aaaaaaaa\n", "aaaaaaaa \\\n", "password=aa1a,",
    f"aaaaaaaa{' ' * 4_000}", f"aaaaaaaa'{' ' * 4_000}",
)  # fmt: skip
_ESCAPES: Final = ("\\\\", "\\n", "\\u0041", "\\x41", "%41", "%2541", "&amp;", "&#65;")


def texts(*, length: int) -> dict[str, str]:
    """Return texts of about so many characters by what they are; the same at each call."""
    drawn = random.Random(_SEED)
    repeated = {repr(unit): _repeated(unit, length) for unit in (*_SIGNS, *_BEGUN, *_ESCAPES)}
    return {**repeated, **_drawn(drawn, length), **_encoded(length), **_held(drawn, length)}


def _repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def _drawn(drawn: random.Random, length: int) -> dict[str, str]:
    of = {
        "letters and digits": _WORDS,
        "base64": f"{_WORDS}+/",
        "base64 of addresses": f"{_WORDS}-_",
        "hex": "0123456789abcdef",
        "dots and dashes": "a.-_",
        "classes in turns": "aA0.-_=:/ \n\"'",
        "all that can be typed": string.printable,
    }
    return {f"drawn {name}": "".join(drawn.choices(signs, k=length)) for name, signs in of.items()}


def _encoded(length: int) -> dict[str, str]:
    plain = _repeated("password = hunter2 and such words; ", length)
    once = base64.b64encode(plain.encode()).decode()
    lines = "\n".join(once[start : start + 76] for start in range(0, len(once), 77))
    made = {
        "base64 of words": once,
        "base64 in lines": lines,
        "base64 twice": base64.b64encode(once.encode()).decode(),
        "hex of words": plain.encode().hex(),
        "percents of base64": "".join(f"%{ord(sign):02X}" for sign in once),
        "percents of words": quote(plain),
        "all in one": "".join(
            f"{quote(plain[at : at + 30])}\\n{once[at : at + 40]}=\naaaabbbb\\\nccccdddd "
            for at in range(0, length, 100)
        ),
    }
    return {name: text[:length] for name, text in made.items()}


def _held(drawn: random.Random, length: int) -> dict[str, str]:
    """Return texts that hold very many made-up secrets."""

    def word(size: int) -> str:
        return "".join(drawn.choices(_WORDS, k=size))

    return {
        "many passwords": " ".join(f"password={word(12)}" for _ in range(length // 22)),
        "many keys": " ".join(f"ghp_{word(36)}" for _ in range(length // 41)),
        "many keys between accents": " ".join(f"é ghp_{word(36)}" for _ in range(length // 43)),
        "many lines of keys": "\n".join(f"é ghp_{word(36)}" for _ in range(length // 43)),
    }
