"""What a prompt offers to the model double: its question, its addresses, its sentences, and strings made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firsthand.testing.world.library import STOPWORDS

URL = re.compile(r"https?://[^\s\"'<>)\]}|\\]+")
FACETS = ("", "limits", "performance", "example", "compared with alternatives", "configuration", "internals")
MAX_PROMPT_CHARS = 400_000  # of sentences; longer prompts are read so far
MAX_SENTENCES = 60
EDGE_CHARS = 2500  # of a long message: instructions stand at its edges
LONG_CHARS = 6000
CHARS_A_TOKEN = 4  # a fixed rule, the same for every program
_ADDRESSED = re.compile(r"\b(you|your|user|assistant|provide a|the question|task)\b", re.I)  # instructions, no material
_PIECE = re.compile(r"https?://[^\s\"'<>)\]}|\\]+|[A-Z][^\n.!?{}\[\]<>|\\]{40,260}[.!](?=\s|$)")

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt, whatever API it came by; ``ids`` are those of its tool calls."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    ids: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to the model, whatever API it came by."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = field(default=())
    must_call: str | None = None  # a tool's name, or "any"
    json_schema: dict[str, Any] | None = None
    wants_json: bool = False
    one_call_at_a_time: bool = False
    max_tokens: int | None = None

    @property
    def text(self) -> str:
        """All text of the prompt."""
        return "\n".join(message.text for message in self.messages)


def count_tokens(text: str) -> int:
    """Four characters are a token."""
    return (len(text) + CHARS_A_TOKEN - 1) // CHARS_A_TOKEN


class Prompt:
    """One prompt, read once. *questions* are those that a benchmark asks: they are recognised wherever they stand."""

    def __init__(self, ask: Ask, questions: Sequence[str], mark: str, answer_tokens: int) -> None:
        self.ask = ask
        self.mark = mark
        self.text = ask.text
        self._answer_tokens = answer_tokens
        said = [message.text for message in ask.messages if message.role != "assistant" and message.text.strip()]
        self.instructions = "\n".join(
            text if len(text) < LONG_CHARS else text[:EDGE_CHARS] + "\n" + text[-EDGE_CHARS:] for text in said
        )
        self.question = self._question(said, questions)
        words = [word for word in re.findall(r"[A-Za-z0-9_]+", self.question) if word.lower() not in STOPWORDS]
        self.keywords = " ".join(dict.fromkeys(words)) or "overview"
        self.urls = _urls(self.text)
        self._ranked: list[tuple[str, str | None]] | None = None

    def _question(self, said: Sequence[str], questions: Sequence[str]) -> str:
        known = [(self.text.rfind(question), question) for question in questions if question in self.text]
        if known:
            return max(known)[1]
        users = [message.text for message in self.ask.messages if message.role == "user"] or list(said) or ["overview"]
        asked = re.findall(r"[A-Z][^\n.?!\"<>{}]{10,240}\?", users[-1])
        return str(asked[-1]) if asked else users[-1].strip().split("\n")[0][:200]

    def sentences(self) -> list[tuple[str, str | None]]:
        """Sentences of the quoted material, best first, each with the address before it."""
        if self._ranked is None:
            wanted = {word.lower() for word in self.keywords.split()}
            found: list[tuple[int, int, str, str | None]] = []
            url, seen = None, set()
            for n, match in enumerate(_PIECE.finditer(self.text[:MAX_PROMPT_CHARS])):
                piece = match.group()
                if piece.startswith("http"):
                    url = piece.rstrip(".,;:*`")
                elif piece not in seen and not _ADDRESSED.search(piece):
                    seen.add(piece)
                    score = len(wanted & set(re.findall(r"[a-z0-9_]+", piece.lower())))
                    found.append((-score, n, piece, url))
            self._ranked = [(piece, url) for _, _, piece, url in sorted(found)[:MAX_SENTENCES]]
        return self._ranked

    def sentence(self, n: int = 0) -> str:
        """One of the sentences."""
        ranked = self.sentences()
        return ranked[n % len(ranked)][0] if ranked else f"Nothing was found about {self.keywords}."

    def answer(self) -> str:
        """An answer of about the configured length, all of it copied, with links."""
        budget = min(self._answer_tokens, self.ask.max_tokens or 10**9) * CHARS_A_TOKEN
        text, ranked = f"Answer {self.mark}.", self.sentences() or [(self.sentence(), None)]
        for n in range(MAX_SENTENCES):
            piece, url = ranked[n % len(ranked)]
            url = url or (self.urls[n % len(self.urls)] if self.urls else None)
            addition = f" {piece}" + (f" ([source]({url}))" if url else "")
            if len(text) + len(addition) > budget:
                break
            text += addition
        while len(text) < budget - 60:  # every program waits for the same number of tokens
            text += f" This concerns {self.keywords}."[: budget - len(text)]
        return text

    def query(self, n: int = 0) -> str:
        """The *n*-th query about the question."""
        return f"{self.keywords} {FACETS[n % len(FACETS)]}".strip()

    def unread_urls(self) -> list[str]:
        """Addresses that were shown and that no call has asked for."""
        said = (message.text for message in self.ask.messages if message.role == "assistant")
        called = (json.dumps(arguments) for message in self.ask.messages for _, arguments in message.calls)
        asked = " ".join([*said, *called])
        shown = "\n".join(message.text for message in self.ask.messages if message.role in ("tool", "user"))
        return [url for url in _urls(shown) if url not in asked]

    def how_many(self, name: str) -> int:
        """How many of *name* the instructions ask for; three if they do not say."""
        asked = re.search(
            r"(?:write|generate|create|provide|exactly|up to|at most|return)\s+(\d)\b[^.\n]{0,80}(?:quer|question|search|topic)",
            self.instructions,
            re.I,
        )
        return int(asked.group(1)) if asked and re.search(r"quer|question|topic|answer", name, re.I) else 3

    def string(self, name: str, n: int) -> str:
        """A string for a field called *name*; *n* varies it."""

        def is_like(pattern: str) -> bool:
            return re.search(pattern, name, re.I) is not None

        if is_like(r"url|link|href"):
            fresh = self.unread_urls() or self.urls
            return fresh[n % len(fresh)] if fresh else ""
        if is_like(r"quer|^q$|keyword"):
            return self.query(n)
        if is_like(r"question|standalone|topic|brief|task|follow|goal|reasoning|thought|plan"):
            return f"{self.question} {FACETS[n % len(FACETS)]}".strip() + f" ({self.mark})"
        if is_like(r"search"):
            return self.query(n)
        if is_like(r"title|server|name|label"):
            return f"{self.keywords} {n + 1}"
        if is_like(r"(^|_)id$"):
            return str(n + 1)
        if is_like(r"date|time"):
            return "2026-01-01"
        if is_like(r"quote|excerpt|span|verification|claim|text"):
            return self.sentence(n)
        return self.answer() if is_like(r"answer|report|content|result") else f"{self.sentence(n)} {self.mark}"


def _urls(text: str) -> list[str]:
    return list(dict.fromkeys(url.rstrip(".,;:*`") for url in URL.findall(text)))
