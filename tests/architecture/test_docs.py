"""The documents say what is: settings, errors, types, addresses, calls, files (rule 7)."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

import pytest

from accounts import jobs
from accounts.errors import GRANT_REFUSALS, CairnError, GrantRefused
from config import env
from config.rest import problems
from config.urls import ENDPOINTS
from frontend.presenters import doc_pages
from memory import taxonomy

DOCS = env.ROOT / "frontend" / "docs"
APPS = ("accounts", "teams", "graph", "memory", "config.rest")
NOT_IMPORTED = (".migrations", ".management")
FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
SERVED = ("/docs/api", "/docs/")
PRODUCT = ("accounts", "teams", "graph", "memory", "frontend", "config")
EXAMPLES = {"auth/token.py"}  # files of an imagined project


def _text(name: str) -> str:
    return next(DOCS.glob(f"*-{name}.md")).read_text(encoding="utf-8")


def _errors() -> Iterator[type[CairnError]]:
    for app in map(importlib.import_module, APPS):
        for module in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
            if not any(part in module.name for part in NOT_IMPORTED):
                importlib.import_module(module.name)
    yield from _tree(CairnError)


def _tree(error: type[CairnError]) -> Iterator[type[CairnError]]:
    if error.__module__.startswith(APPS):
        yield error
    for child in error.__subclasses__():
        yield from _tree(child)


def _rows(text: str) -> list[list[str]]:
    lines = (line for line in text.splitlines() if line.startswith("| `"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_setting_has_a_row_and_no_row_is_invented() -> None:
    rows = [row[0].strip("`") for row in _rows(_text("operators")) if row[0].isupper()]

    assert rows == [variable.name for variable in env.VARIABLES]


def test_the_defaults_of_settings_are_true() -> None:
    told = {row[0].strip("`"): row[1].strip("`") for row in _rows(_text("operators"))}
    plain = [item for item in env.VARIABLES if isinstance(item.default, str | bool | int)]

    for variable in plain:
        default = variable.default
        assert told[variable.name] == (str(int(default)) if default in {0, 1} else str(default))


def test_every_error_code_has_a_section_with_its_status_and_title() -> None:
    told = dict(re.findall(r"^## (\w+)\n\n\*\*(\d+ · .+?)\.\*\*", _text("errors"), re.MULTILINE))

    wanted = {error.code: f"{error.status} · {error.title}" for error in _errors()}
    wanted |= {code: f"{GrantRefused.status} · {title}" for code, title in GRANT_REFUSALS.items()}
    wanted |= {code: f"{status} · {title}" for status, (code, title, _) in problems.PLAIN.items()}
    assert told == wanted


def test_the_type_of_a_problem_leads_to_its_section() -> None:
    page = _page("errors")
    error = next(iter(_errors()))(detail="x")

    path, _, anchor = problems.of_error(error=error, request_id="r")["type"].partition("#")

    assert page is not None
    assert path == "/docs/errors/"
    assert f'id="{anchor}"' in page.html


def test_the_table_of_types_is_the_registry() -> None:
    told = [
        (row[0].strip("`"), row[1], row[2])
        for row in _rows(_text("concepts"))
        if row[0].strip("`") in set(taxonomy.MemoryType)
    ]

    assert told == [
        (row.type.value, str(row.half_life_days or "never fades"), row.says)
        for row in taxonomy.TYPES
    ]


def _links() -> list[tuple[str, str]]:
    pages = [(path.name, path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md"))]
    files = [(name, (env.ROOT / name).read_text(encoding="utf-8")) for name in FILES]
    found = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
    return [(name, link) for name, text in (*pages, *files) for link in found.findall(text)]


@pytest.mark.parametrize(("source", "link"), _links())
def test_internal_links_lead_somewhere(source: str, link: str) -> None:
    target, _, anchor = link.partition("#")

    if not target.startswith("/docs/"):
        assert (env.ROOT / target).exists()
    elif target not in SERVED:
        page = _page(target.removeprefix("/docs/").strip("/"))
        assert page is not None
        assert not anchor or f'id="{anchor}"' in page.html


def test_calls_named_in_the_documents_exist() -> None:
    named = set(re.findall(r"`(GET|POST|PATCH|DELETE) (/[^`?\s]*)", _text("api-guide")))
    known = {(endpoint.method, f"/{endpoint.path}") for endpoint in ENDPOINTS}

    assert {call for call in named if not call[1].startswith("/api")} <= known


def test_make_targets_named_in_the_documents_exist() -> None:
    texts = chain(
        (path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")),
        ((env.ROOT / name).read_text(encoding="utf-8") for name in FILES),
    )
    named = {
        re.sub("^goal-.+", "goal-%", name)
        for text in texts
        for name in re.findall(r"(?:^|`)make ([a-z-]+)(?:`|\s+#|$)", text, re.M)
    }

    makefile = (env.ROOT / "Makefile").read_text(encoding="utf-8")

    assert named
    assert all(f"\n{name}:" in makefile for name in named)


def _design_pages() -> dict[str, str]:
    names = (name for name in _sources() if name.endswith("/__init__.py"))
    trees = {name: ast.parse((env.ROOT / name).read_text(encoding="utf-8")) for name in names}
    return {name: ast.get_docstring(tree) or "" for name, tree in trees.items()}


@cache
def _sources() -> tuple[str, ...]:
    tops = (env.ROOT / top for top in (*PRODUCT, "tests"))
    files = chain.from_iterable(top.rglob("*") for top in tops)
    code = (path for path in files if path.suffix in {".py", ".sql"})
    return ("manage.py", *(path.relative_to(env.ROOT).as_posix() for path in code))


def _files(page: str, name: str) -> list[str]:
    """Return what a name may mean: a path from the root, or the end of one beside the page.

    A design page means files of its package, a manual those of the whole product.
    """
    folder = page.removesuffix("__init__.py") if page.endswith(".py") else ""
    return [
        path
        for path in _sources()
        if path == name or (path.startswith(folder) and path.endswith(f"/{name}"))
    ]


def test_files_and_functions_named_in_the_documents_exist() -> None:
    manuals = (*DOCS.glob("*.md"), env.ROOT / "CONTRIBUTING.md")
    texts = {path.name: path.read_text(encoding="utf-8") for path in manuals} | _design_pages()
    named = re.compile(r"`([\w./-]*\w\.(?:py|sql))(?::\s(\w+))?")

    gone = [
        (page, name, function)
        for page, text in texts.items()
        for name, function in named.findall(text)
        if name not in EXAMPLES
        and not any(
            function in (env.ROOT / path).read_text(encoding="utf-8") for path in _files(page, name)
        )
    ]

    assert gone == []


def test_modules_of_a_package_that_its_design_page_names_exist() -> None:
    named = re.compile(r"`([a-z_]+(?:/[a-z_]+)+)[`:]")

    gone = [
        (page, name)
        for page, text in _design_pages().items()
        for name in named.findall(text)
        if not _files(page, f"{name}.py")
        and not any((base / name).is_dir() for base in ((env.ROOT / page).parent, env.ROOT))
    ]

    assert gone == []


def test_modules_named_in_the_documents_exist() -> None:
    texts = [_text("contributors"), *_design_pages().values()]
    texts.append((env.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    ours = re.compile(rf"(?:`|-m )((?:{'|'.join((*PRODUCT, 'tests'))})(?:\.\w+)+)(?=[`\s(:,])")

    named = {name for text in texts for name in ours.findall(text)} - set(jobs.NAMES)

    assert named
    assert [name for name in sorted(named) if not _is_importable(name)] == []


def _is_importable(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def _page(name: str) -> doc_pages.DocPage | None:
    return next((page for page in doc_pages.pages() if page.name == name), None)
