"""The model double's manners."""

from __future__ import annotations

import json
from typing import Any

from firsthand.testing.world.double import Double, Said
from firsthand.testing.world.prompt import Ask, Message, Tool, count_tokens

QUESTION = "How does WAL mode in SQLite affect concurrent readers and writers?"
PROSE = "The write ahead log lets many readers go on while one writer appends new frames to the log file. " * 3
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
URL = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
TOOLS = (Tool("final_answer", "", QUERY), Tool("web_search", "", QUERY), Tool("visit_page", "", URL))
SEARCHED = Message("assistant", "", (("web_search", {"query": "wal"}),))
FOUND = Message("tool", "http://127.0.0.2/site/wal.html and http://127.0.0.3/site/log.html")
READ = Message("assistant", "", tuple(("visit_page", {"url": url}) for url in FOUND.text.split(" and ")))


def says(text: str, *more: Message, double: Double | None = None, **options: Any) -> Said:
    return (double or Double([QUESTION])).reply(Ask([Message("user", text), *more], **options))


def test_it_searches_first_then_reads_what_was_found_then_finishes() -> None:
    assert [name for name, _ in says(QUESTION, tools=TOOLS).calls] == ["web_search"] * 3
    reads = says(QUESTION, SEARCHED, FOUND, tools=TOOLS).calls
    assert [made["url"] for _, made in reads] == FOUND.text.split(" and ")
    assert [name for name, _ in says(QUESTION, SEARCHED, FOUND, READ, tools=TOOLS).calls] == ["final_answer"]


def test_it_calls_the_tool_that_it_must() -> None:
    assert [name for name, _ in says(QUESTION, tools=TOOLS, must_call="final_answer").calls] == ["final_answer"]


def test_one_call_at_a_time_is_one() -> None:
    assert len(says(QUESTION, tools=TOOLS, one_call_at_a_time=True).calls) == 1


def test_json_comes_by_schema_by_example_and_by_the_keys_that_are_named() -> None:
    queries = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"queries": queries}, "required": ["queries"]}
    assert len(json.loads(says(QUESTION, json_schema=schema).text)["queries"]) == 3
    by_example = f'{QUESTION} Respond with a list of strings in the following format: ["a", "b"].'
    assert len(json.loads(says(by_example).text)) == 2
    by_keys = f'{QUESTION} Answer in JSON with "relevance": and "query":'
    assert set(json.loads(says(by_keys).text)) == {"relevance", "query"}


def test_prose_is_copied_linked_and_always_the_same() -> None:
    prompt = f"{QUESTION}\nSource: http://127.0.0.2/site/wal.html\n{PROSE}"
    assert "([source](http://127.0.0.2/site/wal.html))" in says(prompt).text
    assert says(prompt) == says(prompt)


def test_every_prose_reply_is_about_as_long_as_was_set() -> None:
    double = Double([QUESTION], answer_tokens=200)
    lengths = [count_tokens(says(text, double=double).text) for text in (QUESTION, QUESTION + PROSE * 40)]
    assert all(180 <= length <= 200 for length in lengths), lengths


def test_another_prompt_has_another_signature() -> None:
    assert says(QUESTION).mark != says(QUESTION + " ").mark
    assert says(QUESTION, tools=TOOLS).mark != says(QUESTION).mark
