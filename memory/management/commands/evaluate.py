"""Measure searches on a judged set, convert a public set into one, pair two reports.

`evaluate` asks the set that is shipped, `evaluate --set FOLDER` one's own; `evaluate convert --from
beir PATH OUT` writes a folder that `--set` takes; `evaluate compare A.json B.json` subtracts two
reports of one set, such as those of two embedders; `evaluate fit-relevance` prints the rows of
`memory/search/tables/calibrations.toml`. It changes nothing in the installation.
"""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import CairnError
from memory.evaluation import dataset, report
from memory.evaluation.actions import evaluate, fit_relevance, fit_weights
from memory.evaluation.dataset import Converted, JudgedSet, Split, WrongSet
from memory.evaluation.report import NotComparable
from memory.search.refinement import Rerank
from memory.search.request import PROFILES

SHIPPED: Final = Path(dataset.__file__).parent / "sets"
CODING: Final = "coding"
SETS: Final = (CODING, "dialogue")  # shipped


class Command(BaseCommand):
    """Evaluate, convert, compare, or fit."""

    help = "Measure recall, ranking, silence and time of searches on a judged set."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the set and the profiles; or, after `convert`, the public set and the folders."""
        parser.add_argument(
            "--set", dest="folder", default=CODING, help=f"{', '.join(SETS)}, or a folder"
        )
        parser.add_argument("--profile", action="append", choices=PROFILES, help="may be repeated")
        parser.add_argument("--rerank", action="append", choices=[*Rerank], help="may be repeated")
        parser.add_argument("--split", choices=[*Split], help="only this half of the queries")
        parser.add_argument("--out", type=Path, help="file for the whole report as JSON")
        parser.add_argument("--markdown", type=Path, help="file for the tables as Markdown")
        steps = parser.add_subparsers(dest="step")
        convert = steps.add_parser("convert", help="turn a public set into a folder for --set")
        convert.add_argument("--from", dest="public", choices=dataset.PUBLIC, required=True)
        convert.add_argument("path", type=Path, help="folder with the files of the public set")
        convert.add_argument("target", type=Path, help="folder to write; made when missing")
        compare = steps.add_parser("compare", help="pair two reports written with --out")
        compare.add_argument("first", type=Path)
        compare.add_argument("second", type=Path)
        compare.add_argument("--of", dest="compared", default=PROFILES[0])
        steps.add_parser("fit-weights", help="fit the weights of fusion on the train half")
        relevance = steps.add_parser("fit-relevance", help="fit the calibrations on the train half")
        relevance.add_argument("--held", action="store_true", help="check them on the held half")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do one of them; refuse in a sentence."""
        step = options["step"]
        try:
            if step == "convert":
                self._convert(options["public"], options["path"], options["target"])
            elif step == "compare":
                first, second, profile = options["first"], options["second"], options["compared"]
                rows = report.compare(first=_report(first), second=_report(second), profile=profile)
                title = f"{profile}: {second.name} minus {first.name}, paired by query"
                self.stdout.write(report.differences(title=title, rows=rows))
            else:
                self._run_on(step, _set(options["folder"]), options)
        except (WrongSet, NotComparable) as error:
            raise CommandError(str(error)) from error
        except CairnError as error:
            raise CommandError(f"{error.detail} {error.hint}") from error

    def _run_on(self, step: str | None, judged: JudgedSet, options: dict[str, Any]) -> None:
        """Fit what searches weigh by to a judged set, or say how well they do on it."""
        asked: dict[str, Any] = {"judged": judged, "now": timezone.now()}
        asked["tell"] = lambda line: self.stderr.write(f"… {line}")
        if step == "fit-relevance":
            fitted = fit_relevance(**asked, with_held=options["held"])
            self.stdout.write(report.calibrations(rows=fitted))
            return
        if step == "fit-weights":
            self.stdout.write(report.choices(rows=fit_weights(**asked)))
            return
        for path in filter(None, (options["out"], options["markdown"])):
            if not path.parent.is_dir():
                raise CommandError(f"There is no folder {path.parent}; make it first.")
        found = evaluate(
            **asked,
            profiles=tuple(dict.fromkeys(options["profile"] or PROFILES)),
            reranks=tuple(dict.fromkeys(options["rerank"] or (Rerank.USUAL.value,))),
            split=Split(options["split"]) if options["split"] else None,
        )
        tables = report.markdown(evaluation=found)
        if options["out"]:
            values = report.plain(evaluation=found)
            options["out"].write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        if options["markdown"]:
            options["markdown"].write_text(tables, encoding="utf-8")
        self.stdout.write(tables)

    def _convert(self, public: str, path: Path, target: Path) -> None:
        converted = _converted(public, path)
        found = dataset.parse(name=public, memories=converted.memories, queries=converted.queries)
        target.mkdir(parents=True, exist_ok=True)
        (target / dataset.MEMORIES).write_text(converted.memories, encoding="utf-8")
        (target / dataset.QUERIES).write_text(converted.queries, encoding="utf-8")
        for note in converted.notes:
            self.stdout.write(note)
        self.stdout.write(
            f"{len(found.memories)} memories and {len(found.queries)} queries in {target}"
        )


def _set(given: str) -> JudgedSet:
    """Read a shipped set by its name, a folder of ours, or one with the files of a public set."""
    folder = SHIPPED / given if given in SETS else Path(given)
    public = [
        name
        for name, row in dataset.PUBLIC.items()
        if all((folder / file).is_file() for file in row.files)
    ]
    if public and not (folder / dataset.MEMORIES).exists():
        found = _converted(public[0], folder)
        memories, queries = found.memories, found.queries
    else:
        memories, queries = _read(folder / dataset.MEMORIES), _read(folder / dataset.QUERIES)
    return dataset.parse(name=folder.name, memories=memories, queries=queries)


def _converted(public: str, folder: Path) -> Converted:
    names, convert = dataset.PUBLIC[public]
    return convert({name: _read(folder / name) for name in names})


def _report(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise CommandError(f"{path} is no report: {error.msg} in line {error.lineno}.") from error
    if not isinstance(found, dict):
        raise CommandError(f"{path} is no report; write one with evaluate --out.")
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 (byte {error.start}).") from error
