"""Secrets are found by shape and context, in events too; clean developer text is not flagged."""

import base64
import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts import token_format
from accounts.token_format import TokenKind
from memory.secrets import findings, scanner
from memory.secrets.findings import Finding, SecretKind
from memory.secrets.scanner import readings
from memory.sessions import event_parsing
from memory.sessions.events import Event

OWN = token_format.mint(kind=TokenKind.SERVICE, entropy=bytes(range(7, 31))).text
RANDOM = "q7Rz1Vb9Kx3Tn5Wm8Yp2Lc4Hd6Gf0JsE"
AWS = "AKIA" + "Q7RZ1VB9KX3TN5WM"
GITHUB = "ghp_" + RANDOM + "aB3d"
JWT = ".".join(("eyJ" + RANDOM, "eyJ" + RANDOM[::-1], RANDOM.swapcase()))
PLANTED = (
    (f"Use {OWN} for the import", OWN, "cairn_token"),
    (f"aws configure set key {AWS}", AWS, "vendor_key"),
    (f"The cookie holds {JWT} then", JWT, "json_web_token"),
    (f"bot 123456789:{RANDOM}abc runs", f"123456789:{RANDOM}abc", "chat_bot_token"),
    ("postgres://app:s3cr3tPw@db:5432/x", "s3cr3tPw", "url_credentials"),
    ("postgres://app:s3cr3t@Pw9@db:5432/x", "s3cr3t@Pw9", "url_credentials"),
    ("postgres://app:Tractor/4711@db:5432/x", "Tractor/4711", "url_credentials"),
    ("https://app:Tractor@4711vio@db/x?mail=ada@x.org", "Tractor@4711vio", "url_credentials"),
    ("curl -u admin:S3cretPass! https://x", "S3cretPass!", "url_credentials"),
    (f"Authorization: Bearer {RANDOM}", RANDOM, "authorization_header"),
    (f'curl -H "x-api-key: {RANDOM}"', RANDOM, "authorization_header"),
    ('password = "hunter2!x"', "hunter2!x", "assigned_secret"),
    ("DB_PASSWORD=Tr0ub4dor&3", "Tr0ub4dor&3", "assigned_secret"),
    ("DB_PASS=Tractor!4711vio", "Tractor!4711vio", "assigned_secret"),
    ('{"pass": "Tractor!4711vio"}', "Tractor!4711vio", "assigned_secret"),
    ("smtpPw: Tractor!4711vio", "Tractor!4711vio", "assigned_secret"),
    ("mot_de_passe=Tractor!4711vio", "Tractor!4711vio", "assigned_secret"),
    ('{"name":"DB_PASSWORD","value":"Tractor!47"}', "Tractor!47", "assigned_secret"),
    ("- name: API_KEY_2\n  value: Tractor!4711", "Tractor!4711", "assigned_secret"),
    ("Le mot de passe est Tractor!4711vio.", "Tractor!4711vio", "secret_in_prose"),
    ("Le mot de passe de la base : Tractor!4711vio", "Tractor!4711vio", "secret_in_prose"),
    (f"The key was changed to {RANDOM}", RANDOM, "secret_in_prose"),
    (f'{{"api_key": "{RANDOM}"}}', RANDOM, "assigned_secret"),
    (f"client-secret: {RANDOM}", RANDOM, "assigned_secret"),
    ("DB_PASSWORD='$umm3r!2024Xy'", "$umm3r!2024Xy", "assigned_secret"),
    ("password=$ECRET2024", "$ECRET2024", "assigned_secret"),
    ('PGPASSWORD="$UMMER1999"', "$UMMER1999", "assigned_secret"),
    ("The db password is Xk9#mQ2v today", "Xk9#mQ2v", "secret_in_prose"),
    (f"SECRET_KEY_BASE={RANDOM}", RANDOM, "assigned_secret"),
    ("PGPASSWORD=Tractor!4711 psql", "Tractor!4711", "assigned_secret"),
    ("redis-cli -h cache -a Tractor!4711 ping", "Tractor!4711", "assigned_secret"),
    ("Le mot de passe de l'admin est Tractor!4711vio", "Tractor!4711vio", "secret_in_prose"),
    ("Das Passwort des Servers lautet Tractor!4711", "Tractor!4711", "secret_in_prose"),
    ("La contraseña de la base es Tractor!4711", "Tractor!4711", "secret_in_prose"),
    ("| DB password | `Tractor!4711` |", "Tractor!4711", "secret_in_prose"),
    ("| user | password |\n|---|---|\n| ada | Tractor!4711 |", "Tractor!4711", "secret_in_prose"),
    ("Log in as admin / Tractor!4711", "Tractor!4711", "secret_in_prose"),
    ("Admin / Passw0rd!23", "Passw0rd!23", "secret_in_prose"),
    ("Root / Passw0rd!23", "Passw0rd!23", "secret_in_prose"),
    ("Login bob / S3cret99x", "S3cret99x", "secret_in_prose"),
    ("credentials maria / Tr0ub4dor&3", "Tr0ub4dor&3", "secret_in_prose"),
    ("Staging password for admin was changed to w1nter-2026", "w1nter-2026", "secret_in_prose"),
)
CLEAN = (
    "self._signing_key = key[:16]; token = parts[2]; token = token[:-1]",
    'SESSION_KEY = "_auth_user_id"; url_token = "_password_reset_token"',
    '{"token": self.implicit_grant}, {"password": auth[1]}, {"api-key": api_key}',
    "redis-cli -a $REDIS_PASSWORD ping; PGPASSWORD=$(cat pw) psql",
    "| password | string | required |\n|---|---|---|\n| token | the_token | no |",
    "Das Passwort ist im Tresor. La contraseña es secreta. Sign in / register.",
    "Settings: Account / OAuth2Settings. Admin / V2Dashboard. User / Base64Encoder.",
    "Open the login page / OAuth2Settings, then account settings / Base64Encoder!",
    "The password is stored in the vault and rotated by the platform team.",
    "Set password = os.environ['DB_PASSWORD'] in the settings.",
    "def login(username: str, password: str) -> Token: ...",
    "token = request.headers.get('Authorization')",
    'password = "changeme" is the placeholder of the example.',
    "API_KEY=<your key here>",
    "password: ${DB_PASSWORD}",
    "DB_PASSWORD=$DATABASE_PASSWORD, TOKEN=$HOME/.token, psql password=$dbPassword",
    "password: $2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
    "password=$DB2_PASSWORD, PGPASSWORD=$PASSWORD1, token=$S3_TOKEN, pass: $OAUTH2 $K8S_SECRET_16",
    "$password = $config['database']; $token = $this->token;",
    "The token is refreshed after 3600 seconds by the gateway.",
    "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build.",
    "Session 550e8400-e29b-41d4-a716-446655440000 was slow.",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "See https://example.com:8080/path@2x.png for the icon.",
    "Call http://localhost:8080/users?mail=ada@shop.org or https://[::1]:8443/@scope/a1@2.0.0.",
    "postgres://user:password@localhost:5432/shop?mail=ada7@shop.org",
    "pip install git+https://github.com/shop/x1.git@v2 and ssh://git@host:22/shop.git@4f2a",
    "Tests pass: 1450/1452, first pass: O(n^2), bypass: lane2-north, compass: N42.1-E7",
    "Le mot de passe est dans le coffre, sous shop/deploy.",
    "max_tokens = 4096 and token_count: 12",
    "The secret is to keep functions short.",
    "Authorization: Bearer <token> is the header's form.",
    '{"password": "string", "token": "string"}',
    "passwordValidator = createPasswordValidator(options)",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: db-creds2",
    "- name: SECRET_NAME\n  value: my-app-4\n- name: TOKEN_TTL\n  value: 3600seconds",
    "The access token is passed to AuthService.refresh() by the client.",
    "const apiKey = config.services.stripe.apiKey;",
    "SECRET_KEY = env.str('SECRET_KEY')",
    "revoke_token: tokens/{id}, rotate_token: tokens/{id}/rotate",
)


def found_in(text: str, *, is_spoken: bool = False) -> tuple[Finding, ...]:
    """Find by our own rules alone."""
    every = readings(text=text, is_spoken=is_spoken)
    return scanner.find(every=every, catalog=scanner.no_catalog)


def without(text: str) -> str:
    """Take out what our own rules find of something that is spoken."""
    return findings.redact(text=text, findings=found_in(text, is_spoken=True))


@pytest.mark.parametrize(("text", "value", "kind"), PLANTED, ids=[row[2] for row in PLANTED])
def test_a_planted_secret_is_placed_and_taken_out(text: str, value: str, kind: str) -> None:
    found = found_in(text)

    assert kind in {one.kind for one in found}
    assert any(value in text[one.start : one.end] for one in found)
    redacted = findings.redact(text=text, findings=found)
    assert value not in redacted
    assert f"[redacted: {kind}]" in redacted
    assert found_in(redacted) == ()
    assert found_in(f"{text} é") == found  # a letter beyond ASCII hides nothing


@pytest.mark.parametrize("text", CLEAN)
def test_clean_developer_text_is_not_flagged(text: str) -> None:
    assert found_in(text) == ()


def test_a_private_key_is_found_as_a_whole_and_of_one_that_is_cut_off_nothing_is_left() -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{RANDOM}\n{RANDOM}"
    whole = f"-----BEGIN RSA PRIVATE KEY-----\n{RANDOM}\n-----END RSA PRIVATE KEY-----"

    for text in (whole, key, key.replace("\n", "\\n"), f"{key}\n-----END RSA PRIVATE KEY-----"):
        redacted = findings.redact(text=f"a {text}", findings=found_in(f"a {text}"))

        assert redacted == "a [redacted: private_key]"


def at(start: int, end: int, kind: SecretKind = SecretKind.ASSIGNED_SECRET) -> Finding:
    """Return a finding at a place."""
    return Finding(kind=kind, start=start, end=end)


def test_what_is_found_is_redacted_once_or_left_out_and_the_rest_stays() -> None:
    overlapping = (at(4, 9), at(2, 7, SecretKind.VENDOR_KEY))

    assert findings.redact(text="0123456789", findings=overlapping) == "01[redacted: vendor_key]9"
    assert findings.leave_out(text="one two three", findings=(at(0, 3), at(8, 13))) == "two"
    text = f"First line.\npassword: {RANDOM}\n"
    told = str(findings.message_of(text=text, findings=found_in(text)))
    assert "assigned_secret at line 2, column 11" in told
    assert RANDOM not in told
    for value, kinds in (("q7Rz1Vb9", ["vendor_key"]), ("<your key>", [])):  # of the catalog
        whole = scanner.find(every=readings(text=value), catalog=lambda one: ((0, len(one)),))
        assert [one.kind for one in whole] == kinds


@given(text=st.text(max_size=200) | st.text(st.sampled_from("aA1=:/@.-_\"' \n%password")))
def test_findings_are_in_order_disjoint_and_inside_the_text(text: str) -> None:
    found = found_in(text)

    assert all(one.start < one.end for one in found)
    bounds = [place for one in found for place in (one.start, one.end)]
    assert bounds == sorted(bounds)
    assert all(0 <= place <= len(text) for place in bounds)


@given(
    words=st.lists(st.sampled_from(("pass", "word", "=", ": ", " is ", "aK9#xQ2v", " -u ", "@")))
)
def test_what_is_found_in_ascii_is_found_in_any_text(words: list[str]) -> None:
    text = "".join(words)

    assert found_in(f"{text} é") == found_in(text)


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(f"password={RANDOM}".encode()).decode(),
        base64.urlsafe_b64encode(OWN.encode()).decode(),
        f"token={GITHUB}".encode().hex(),
        "".join(f"%{byte:02x}" for byte in f"password={RANDOM}".encode()),
        f'{OWN[:22]}"\n  "{OWN[22:]}',
        base64.b64encode(base64.b64encode(f"password={RANDOM}".encode())).decode(),
        quote(base64.b64encode(f"pwd: '{RANDOM}'".encode()).decode(), safe=""),
        "".join(f"\\u{ord(one):04x}" for one in f"password={RANDOM}"),
        "".join(f"&#{ord(one)};" for one in f"password={RANDOM}"),
        f"The&nbsp;token&nbsp;is&nbsp;{RANDOM}",
        f"{{&quot;password&quot;: &quot;{RANDOM}&quot;}}",
        f'{{\\"password\\": \\"{RANDOM}\\"}}',
        "\u200b".join(OWN),
        "".join(chr(ord(one) + 0xFEE0) for one in f"password={RANDOM}"),
    ],
)
def test_a_secret_written_another_way_is_found_and_taken_out(written: str) -> None:
    text = f"before {written} after"

    redacted = findings.redact(text=text, findings=found_in(text))

    assert found_in(redacted) == ()
    assert redacted.startswith("before ")
    assert "[redacted: " in redacted
    assert len(redacted) < len(text)


PARTS = (
    "a", "b c", "%41", "\\n", "\u200b", "\uff21", "&amp;", "\\u0042", "\n", "é",
    '"\n "', "aA1+/bB2",
)  # fmt: skip
WRITTEN = st.lists(st.sampled_from(PARTS), max_size=16).map("".join)


@given(WRITTEN)
def test_each_character_of_a_reading_came_from_a_part_of_the_text(text: str) -> None:
    for reading in readings(text=text, is_spoken=True):
        spans = [reading.span(at, at + 1) for at in range(len(reading.text))]

        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert spans == sorted(spans)


def test_a_reading_holds_the_lines_that_read_otherwise_and_no_others() -> None:
    text = "plain\nq=%41 b\nplain too\n\nkey aaaaaaaa\nbbbbbbbb &amp;c\nend"

    every = list(readings(text=text))

    assert [one.text for one in every] == [
        text, "key aaaaaaaabbbbbbbb &amp;c", "key aaaaaaaabbbbbbbb &c", "q=A b\nbbbbbbbb &c",
    ]  # fmt: skip


def test_of_two_that_read_alike_each_is_found_where_it_stands() -> None:
    hidden = base64.b64encode(b'password = "hunter2-Xy77"').decode().rstrip("=")
    escaped = "".join(f"%{ord(sign):02X}" for sign in hidden)
    text = f"first {hidden}\u200bzz and then {escaped} end"

    found = found_in(text)

    assert [text[one.start : one.end] for one in found] == [hidden, escaped]


@given(st.lists(st.sampled_from(["a", "\n", "é"])).map("".join), st.sets(st.integers(0, 40)))
def test_places_are_lines_and_columns_as_an_editor_counts_them(text: str, places: set[int]) -> None:
    starts = [start for start in sorted(places) if start < len(text)]
    found = tuple(at(start, start + 1) for start in starts)

    told = str(findings.message_of(text=text, findings=found))

    lines = [text[:start].split("\n") for start in starts[: findings.MOST_NAMED]]
    placed = re.findall(r"line (\d+), column (\d+)", told)
    assert [(int(line), int(column)) for line, column in placed] == [
        (len(before), len(before[-1]) + 1) for before in lines
    ]


KEY = "api_key = 'q8Zr2Lk0VwX5nTb7YdJ3'"


def masked(row: object) -> Any:
    """Mask a row with words that name the field they stood in."""
    return findings.mask_texts(row=row, redact=lambda name, text: f"<{name}|{text}>")


def test_texts_are_looked_at_with_their_telling_names_and_other_values_stay() -> None:
    row = {"kind": "tool_call", "args": {"password": "tractor", "list": ["one two"], "n": 7}}
    plain = {"a": "Read", "b": None, "c": 1.5, "d": True}

    assert masked(row) == {
        "kind": "<|tool_call>",
        "args": {"password": "<password|tractor>", "list": ["<list|one two>"], "n": 7},
    }
    assert masked(plain) == plain


def test_what_stands_too_deep_or_is_too_long_is_cut_off() -> None:
    deep: object = "a secret text"
    for _ in range(findings.DEEPEST + 2):
        deep = {"in": deep}

    assert "secret" not in str(masked(deep))
    assert len(masked(["longer"] * 900)) == findings.MOST


def told(text: str, redact: findings.Redact) -> str:
    """Return what an event keeps of a text after it was masked."""
    row = findings.mask_texts(row={"kind": "reasoning", "sequence": 1, "text": text}, redact=redact)
    read = event_parsing.read(row=row)
    assert isinstance(read, Event)
    return read.text


@pytest.mark.parametrize("length", [36_001, 40_000, 120_000])
@pytest.mark.parametrize(
    "at", [0, 5_000, 11_880, 11_930, 11_990, 21_950, 21_990, 30_000, -4_020, -3_990, -14_020, -40]
)
def test_of_a_long_text_the_same_is_kept_as_of_all_of_it(length: int, at: int) -> None:
    place = at % length
    words = "the cart is locked by the price job\n" * (length // 36 + 1)
    text = f"{words[:place]}\n{KEY}\n{words[place:]}"[:length]

    kept = told(text, lambda _, part: without(part))

    whole = told(without(text), lambda _, part: part)
    assert "q8Zr2Lk0VwX5nTb7YdJ3" not in kept
    assert (kept[:11_000], kept[-3_900:]) == (whole[:11_000], whole[-3_900:])


def test_of_the_longest_text_a_bounded_part_is_looked_through_and_its_middle_told_apart() -> None:
    seen: list[int] = []

    def look(_name: str, text: str) -> str:
        seen.append(len(text))
        return text

    clean: Any = findings.mask_texts(row={"text": "x" * 8_000_000}, redact=look)

    assert sum(seen) == findings.HEAD + findings.TAIL
    assert len(clean["text"]) == 8_000_000
    first, second = (f"{'x' * 50_000}{middle}{'x' * 50_000}" for middle in ("one", "two"))
    assert masked({"after": first}) == masked({"after": first}) != masked({"after": second})
    halved = f"{'w ' * ((findings.HEAD - 12) // 2)}{KEY}{' w' * 20_000}"
    assert "q8Zr" not in str(
        findings.mask_texts(row=[halved], redact=lambda _, part: without(part))
    )
