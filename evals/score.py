"""Scores a product's answers against a question file. One JSON object comes out.

The measures are mechanical, so they cannot be argued with and cannot see everything: they look for accepted
strings in what was said, for gold pages among the pages cited, and for every quote in the page that was served.
They do not judge whether a quote supports its claim.

    python -m evals.score QUESTIONS.jsonl ANSWERS.jsonl --roots README.md [--root PACKAGE=DIR]... [--misses]

An answer is one JSON object a line: {"id", "status", "text", "claims": [{"text", "citations": [{"url", "quote"}]}],
"model_calls", "elapsed_ms"}. A question without an answer counts as a miss everywhere.
Exit status: 0 when scored, 2 when the arguments, the roots or the files are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from evals.check import TWO_PAGES, Root, fold, gather_roots, groups, hits, page_text

# Statuses are compared in lower case with "-" for "_".
ABSTAINED = {"insufficient-evidence", "no-evidence"}
CLARIFIED = {"needs-clarification", "clarification"}
FAILED = {"error", "failed", "unavailable", "cancelled", "missing"}
MISSING: dict[str, Any] = {"status": "missing"}


@dataclass(slots=True)
class Case:
    """One question beside the answer it got, and what the measures found."""

    question: dict[str, Any]
    status: str
    answer_hit: bool | None = None  # None: the measure does not apply
    answer_hit_in_text: bool | None = None
    answer_hit_from_gold: bool | None = None
    answer_hit_first: bool | None = None
    quoted_chars: int | None = None
    page_hit: bool | None = None
    two_pages_hit: bool | None = None
    abstained_right: bool | None = None
    abstained_wrong: bool | None = None
    clarified_right: bool | None = None
    clarified_wrong: bool | None = None
    n_quotes: int = 0
    n_quotes_found: int = 0
    n_quotes_found_spaceless: int = 0
    bad_quotes: list[dict[str, str]] = field(default_factory=list)
    model_calls: float | None = None
    elapsed_ms: float | None = None


def page_of(url: str, roots: dict[str, Root]) -> tuple[str, str] | None:
    """The package and page that *url* names by its path, host and fragment aside; None if no root serves it."""
    path = unquote(urlsplit(url).path)
    for package, root in sorted(roots.items(), key=lambda item: -len(item[1].path)):
        if path.startswith(root.path):
            page = path[len(root.path) :]
            if ".." in page.split("/"):
                return None
            return package, page + "index.html" if page == "" or page.endswith("/") else page
    return None


def gold_pages(question: dict[str, Any]) -> set[tuple[str, str]]:
    """The pages whose citation counts: the gold ones and those that also hold the answer."""
    pages = set()
    for name in question["pages"] + question.get("also", []):
        owner, colon, rest = name.partition(":")
        pages.add((owner, rest) if colon else (question["package"], name))
    return pages


@lru_cache(maxsize=64)
def spaceless(text: str) -> str:
    """*text* without any white space, and with straight quote marks."""
    return "".join(text.split()).translate(str.maketrans("‘’“”", "''\"\""))


def quote_found(url: str, quote: str, roots: dict[str, Root]) -> tuple[bool, bool]:
    """Whether *quote* stands in the page served at *url*: after folding white space, and after dropping it."""
    place = page_of(url, roots)
    if place is None or not quote.strip():
        return False, False
    file = roots[place[0]].directory / place[1]
    if not file.is_file():
        return False, False
    text, wanted = page_text(file), fold(quote)
    return wanted in text, spaceless(wanted) in spaceless(text)


def said(answer: dict[str, Any]) -> str:
    """The answer's own words: its text and its claims."""
    return fold(
        " ".join([answer.get("text") or "", *((claim.get("text") or "") for claim in answer.get("claims") or [])])
    )


def judge(question: dict[str, Any], answer: dict[str, Any], roots: dict[str, Root]) -> Case:
    """Every measure of one answer."""
    status = str(answer.get("status") or "missing").lower().replace("_", "-")
    case = Case(
        question,
        status,
        model_calls=answer.get("model_calls", (answer.get("usage") or {}).get("model_calls")),
        elapsed_ms=answer.get("elapsed_ms"),
    )
    citations = [citation for claim in answer.get("claims") or [] for citation in claim.get("citations") or []]
    for citation in citations:
        url, quote = str(citation.get("url") or ""), str(citation.get("quote") or "")
        found, near = quote_found(url, quote, roots)
        case.n_quotes += 1
        case.n_quotes_found += found
        case.n_quotes_found_spaceless += near
        if not found:
            case.bad_quotes.append({"id": question["id"], "url": url, "quote": quote})

    kind = question["type"]
    if kind == "unanswerable":
        case.abstained_right = status in ABSTAINED
        return case
    if kind == "ambiguous":
        case.clarified_right = status in CLARIFIED
        return case
    case.abstained_wrong, case.clarified_wrong = status in ABSTAINED, status in CLARIFIED
    answered = status not in ABSTAINED | CLARIFIED | FAILED
    words = said(answer)
    texts = [words, *(fold(str(citation.get("quote") or "")) for citation in citations)]
    wanted = groups(question["answers"])
    case.answer_hit = answered and all(
        any(hits(pattern, text) for pattern in group for text in texts) for group in wanted
    )
    case.answer_hit_in_text = answered and all(any(hits(pattern, words) for pattern in group) for group in wanted)
    gold = gold_pages(question)
    from_gold = [
        fold(str(citation.get("quote") or ""))
        for citation in citations
        if page_of(str(citation.get("url") or ""), roots) in gold
    ]
    case.answer_hit_from_gold = answered and all(
        any(hits(pattern, text) for pattern in group for text in from_gold) for group in wanted
    )
    lead = [
        fold(str(citation.get("quote") or ""))
        for citation in ((answer.get("claims") or [{}])[0].get("citations") or [])[:1]
    ]
    case.answer_hit_first = answered and all(
        any(hits(pattern, text) for pattern in group for text in lead) for group in wanted
    )
    case.quoted_chars = sum(len(str(citation.get("quote") or "")) for citation in citations)
    cited = {page_of(str(citation.get("url") or ""), roots) for citation in citations} & gold
    case.page_hit = bool(cited)
    if kind in TWO_PAGES:
        case.two_pages_hit = len(cited) > 1
    return case


def share(values: Iterable[bool | None]) -> float | None:
    """The share of true among the values that apply; None when none does."""
    applying = [value for value in values if value is not None]
    return round(sum(applying) / len(applying), 4) if applying else None


def quantile(values: list[float], part: float) -> float | None:
    """The value below which *part* of *values* lies, by nearest rank; None for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else None


def summary(cases: list[Case]) -> dict[str, Any]:
    """The measures over *cases*. A rate is null where it does not apply."""
    n_quotes = sum(case.n_quotes for case in cases)
    calls = [case.model_calls for case in cases if isinstance(case.model_calls, (int, float))]
    times = [case.elapsed_ms for case in cases if isinstance(case.elapsed_ms, (int, float))]
    return {
        "n_questions": len(cases),
        "n_missing": sum(case.status == "missing" for case in cases),
        "n_failed": sum(case.status in FAILED - {"missing"} for case in cases),
        "answer_recall": share(case.answer_hit for case in cases),
        "answer_recall_text": share(case.answer_hit_in_text for case in cases),
        "answer_recall_from_gold": share(case.answer_hit_from_gold for case in cases),
        "answer_recall_first_quote": share(case.answer_hit_first for case in cases),
        "quoted_chars_p50": quantile([case.quoted_chars for case in cases if case.quoted_chars is not None], 0.5),
        "page_recall": share(case.page_hit for case in cases),
        "two_page_recall": share(case.two_pages_hit for case in cases),
        "n_quotes": n_quotes,
        "citation_precision": round(sum(case.n_quotes_found for case in cases) / n_quotes, 4) if n_quotes else None,
        "citation_precision_spaceless": round(sum(case.n_quotes_found_spaceless for case in cases) / n_quotes, 4)
        if n_quotes
        else None,
        "abstention_accuracy": share(case.abstained_right for case in cases),
        "false_abstention_rate": share(case.abstained_wrong for case in cases),
        "clarification_accuracy": share(case.clarified_right for case in cases),
        "false_clarification_rate": share(case.clarified_wrong for case in cases),
        "model_calls_mean": round(sum(calls) / len(calls), 2) if calls else None,
        "elapsed_ms_p50": quantile(times, 0.5),
        "elapsed_ms_p95": quantile(times, 0.95),
    }


def split(cases: list[Case], key: Callable[[Case], str]) -> dict[str, Any]:
    """A summary for each value of *key*, in alphabetical order."""
    return {
        value: summary([case for case in cases if key(case) == value])
        for value in sorted({key(case) for case in cases})
    }


def misses(cases: list[Case]) -> dict[str, Any]:
    """The ids behind each miss, for whoever has to look."""
    return {
        "answer": [case.question["id"] for case in cases if case.answer_hit is False],
        "page": [case.question["id"] for case in cases if case.page_hit is False],
        "abstention": [case.question["id"] for case in cases if case.abstained_right is False],
        "clarification": [case.question["id"] for case in cases if case.clarified_right is False],
        "quotes": [quote for case in cases for quote in case.bad_quotes],
    }


def score(
    questions: list[dict[str, Any]], answers: list[dict[str, Any]], roots: dict[str, Root], *, with_misses: bool = False
) -> dict[str, Any]:
    """The whole result. Raises ValueError when two answers share an id."""
    counts = Counter(str(answer.get("id")) for answer in answers)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"answered more than once: {', '.join(twice)}")
    by_id = {str(answer.get("id")): answer for answer in answers}
    cases = [judge(question, by_id.get(question["id"], MISSING), roots) for question in questions]
    result = {
        "overall": summary(cases),
        "by_type": split(cases, lambda case: case.question["type"]),
        "by_lang": split(cases, lambda case: case.question["lang"]),
        "by_package": split(cases, lambda case: case.question["package"]),
        "statuses": dict(Counter(case.status for case in cases).most_common()),
        "unknown_ids": sorted(set(by_id) - {question["id"] for question in questions}),
    }
    return result | {"misses": misses(cases)} if with_misses else result


def read_lines(name: str) -> list[dict[str, Any]]:
    """The JSON objects of a file, one a line. Raises ValueError with the line that is none."""
    rows = []
    for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{name}:{number}: {error}") from error
            if not isinstance(row, dict):
                raise ValueError(f"{name}:{number}: not an object")
            rows.append(row)
    return rows


def main(arguments: list[str]) -> int:
    """Read the files, print the result."""
    parser = argparse.ArgumentParser(description="Score answers against a question file.")
    parser.add_argument("questions", help="question file")
    parser.add_argument("answers", help="answers, one JSON object a line")
    parser.add_argument(
        "--roots", action="append", default=[], metavar="FILE", help="Markdown file with the table of roots"
    )
    parser.add_argument(
        "--root", action="append", default=[], metavar="PACKAGE=DIR", help="a package's root; wins over --roots"
    )
    parser.add_argument("--misses", action="store_true", help="name the questions and quotes behind every miss")
    options = parser.parse_args(arguments)
    try:
        roots = gather_roots(options.roots, options.root)
        result = score(read_lines(options.questions), read_lines(options.answers), roots, with_misses=options.misses)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(result, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
