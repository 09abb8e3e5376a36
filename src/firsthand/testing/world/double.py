"""A stand-in for a language model: deterministic, and plausible enough to carry research programs to their end.

One plain function, ``Double.reply``: it calls tools when tools are offered (search, then read, then whatever else,
then finish), returns JSON of the demanded shape when JSON is demanded, and otherwise writes an answer of sentences
copied from the prompt, each with a Markdown link to the address that stands before it. Every output carries a
signature that depends on the prompt only, by which ``trace`` follows it. It cannot judge: a program that loops until
its model is content stops early here.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.testing.world.prompt import Ask, Call, Prompt

ANSWER_TOKENS = 300  # of every prose reply, so that programs are compared by their calls and not by their prompts
TOOL_CALLS = 3  # in one turn
_SEARCHES = re.compile(r"search|lookup|duckduckgo|tavily|conduct|delegate", re.I)
_READS = re.compile(r"visit|fetch|open_|browse|scrape|crawl|read_?(web)?page|get_?page|read_url|web_?read", re.I)
_FINISHES = re.compile(r"final|finish|complete|submit|^done$|_done$", re.I)
_IDLE = re.compile(r"think|clarify|plan|reset|memory|upload|academic|social|discussion", re.I)
_WRITTEN_CALL = re.compile(r"call_m[0-9a-f]{8}_\d.{0,80}?['\"]name['\"]: ?['\"](\w+)")
_DEMANDS_JSON = re.compile(
    r"(respond|reply|answer|output|return)[^.\n]{0,80}\b(json|list of strings)\b|json (object|format|array|list)"
    r"|following format: *\[|response: *\n *\{",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What the model said: text, or calls."""

    text: str
    calls: Sequence[Call]
    mark: str

    @property
    def output(self) -> str:
        """Text and calls, as they are counted and traced."""
        return self.text + "".join(f"\n{name} {json.dumps(arguments)}" for name, arguments in self.calls)


class Double:
    """The model. *questions* are those that a benchmark asks."""

    def __init__(
        self, questions: Sequence[str] = (), *, answer_tokens: int = ANSWER_TOKENS, tool_calls: int = TOOL_CALLS
    ) -> None:
        self._questions = tuple(questions)
        self._answer_tokens = answer_tokens
        self._tool_calls = tool_calls

    def reply(self, ask: Ask) -> Said:
        """What the model says to *ask*: always the same to the same."""
        names = [tool.name for tool in ask.tools]
        mark = f"m{zlib.crc32((ask.text + repr(names)).encode()):08x}"
        prompt = Prompt(ask, self._questions, mark, self._answer_tokens)
        calls = next_calls(prompt, self._tool_calls) if ask.tools else []
        if calls:
            return Said("", calls, mark)
        if ask.json_schema:
            return Said(json.dumps(fill(prompt, ask.json_schema, "answer")), (), mark)
        return Said(json_by_example(prompt) or lines_by_habit(prompt) or prompt.answer(), (), mark)


# -- Tools


def next_calls(prompt: Prompt, at_most: int) -> list[Call]:
    """The next tool calls, or none if the time has come to write."""
    ask = prompt.ask
    tools = {tool.name: tool.schema for tool in ask.tools}
    made = [name for message in ask.messages for name, _ in message.calls]
    # Some programs write past calls as text.
    made += [name for message in ask.messages for name in _WRITTEN_CALL.findall(message.text)]
    at_once = 1 if ask.one_call_at_a_time else at_most

    def calls(name: str, n_calls: int) -> list[Call]:
        if '"array"' in json.dumps(tools[name]):  # takes several things in one call
            n_calls = 1
        return [(name, fill(prompt, tools[name], name, n)) for n in range(n_calls)]

    if ask.must_call in tools:
        return calls(ask.must_call, 1)
    finishes = [name for name in tools if _FINISHES.search(name)]
    searches = [name for name in tools if _SEARCHES.search(name) and name not in finishes and not _IDLE.search(name)]
    reads = [name for name in tools if _READS.search(name) and name not in finishes + searches]
    known = {*finishes, *searches, *reads, *made}
    others = [name for name in tools if name not in known and not _IDLE.search(name)]
    if searches and not any(name in made for name in searches):
        return calls(searches[0], at_once)
    fresh = prompt.unread_urls()
    if reads and fresh and sum(name in reads for name in made) < at_most:
        return calls(reads[0], min(at_once, len(fresh)))
    if others:
        return calls(others[0], 1)
    if finishes:
        return calls(finishes[0], 1)
    return calls(next(iter(tools)), 1) if ask.must_call == "any" else []


# -- JSON


def fill(prompt: Prompt, schema: dict[str, Any], name: str = "", n: int = 0, root: dict[str, Any] | None = None) -> Any:
    """A value of *schema*; strings are chosen by the field's *name*, and *n* varies them."""
    root = root or schema
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return fill(prompt, target, name, n, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            options = [one for one in schema[choice] if one.get("type") != "null"]
            return fill(prompt, options[0], name, n, root) if options else None
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind == "object":
        required = schema.get("required")
        return {
            key: fill(prompt, inner, key, n, root)
            for key, inner in schema.get("properties", {}).items()
            if required is None or key in required or re.search(r"quer|url|answer", key, re.I)
        }
    if kind == "array":
        size = min(max(schema.get("minItems", prompt.how_many(name)), 1), schema.get("maxItems", 99))
        inner = schema.get("items", {"type": "string"})
        return [fill(prompt, inner, name, n + i, root) for i in range(size)]
    return _plain_value(prompt, kind, schema, name, n)


def _plain_value(prompt: Prompt, kind: str, schema: dict[str, Any], name: str, n: int) -> Any:
    if kind == "boolean":
        return bool(re.search(r"relevan|support|success|sufficient|is_complete|has_|verified", name, re.I))
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10)
        is_score = re.search(r"score|relevance|confidence|rating", name, re.I)
        value = 8 if is_score and high >= 8 else high if high <= 1 else low
        return int(value) if kind == "integer" else float(value)
    return None if kind == "null" else prompt.string(name, n)


def json_by_example(prompt: Prompt) -> str | None:
    """JSON, if the instructions demand it: shaped like the example in them, or by the keys that they name."""
    if not (_DEMANDS_JSON.search(prompt.instructions) or prompt.ask.wants_json):
        return None
    for opening in reversed(list(re.finditer(r"[\[{]", prompt.instructions))):
        try:
            example, _ = json.JSONDecoder().raw_decode(prompt.instructions, opening.start())
        except ValueError:
            continue
        if isinstance(example, list) and example and all(isinstance(one, str) for one in example):
            return json.dumps([prompt.query(n) for n in range(len(example))])
        if isinstance(example, list) and example and all(isinstance(one, int) for one in example):
            numbered = re.findall(r"^\s*\[(\d+)\]", prompt.text, re.M)  # a choice among numbered things: the first ten
            return json.dumps([int(one) for one in dict.fromkeys(numbered)][:10])
        if isinstance(example, dict) and example:
            return json.dumps(_like(prompt, example))
    keys = dict.fromkeys(re.findall(r"\"(\w+)\"\s*:", prompt.instructions))
    made = {key: 8 if re.search(r"score|relevance", key, re.I) else prompt.string(key, 0) for key in keys}
    return json.dumps(made) if made else None


def _like(prompt: Prompt, example: Any, name: str = "", n: int = 0) -> Any:
    if isinstance(example, dict):
        return {key: _like(prompt, value, key, n) for key, value in example.items()}
    if isinstance(example, list):
        return [_like(prompt, value, name, n + i) for i, value in enumerate(example)]
    return prompt.string(name, n) if isinstance(example, str) else example


def lines_by_habit(prompt: Prompt) -> str | None:
    """Forms that some programs read line by line."""
    if re.search(r"^\s*Q: question1", prompt.instructions, re.M):
        return "\n".join(f"Q: {prompt.query(n)}" for n in range(prompt.how_many("questions")))
    return None
