"""OpenAI's wire, read and written: chat completions, responses and embeddings, plain and as a stream.

Source: the OpenAI API reference (read 2026-11-30). Reading is forgiving, writing is exact. A stream is a list of steps:
a value to send, or text to send at the model's pace.
"""

from __future__ import annotations

import array
import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.testing.world.double import Said
from firsthand.testing.world.prompt import Ask, Message, Tool, count_tokens

CREATED = 1767225600  # 2026-01-01: an answer must be the same in every run
EMBEDDING_SIZE = 1536
MODELS = {"object": "list", "data": [{"id": "double", "object": "model", "created": 0, "owned_by": "world"}]}
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    value: Json | str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Paced:
    """Text that the model writes piece by piece; each piece becomes an event."""

    text: str
    event: Callable[[str], Event]


Step = Event | Paced
DONE = Event("[DONE]")


# -- Chat completions


def read_chat(body: Mapping[str, Any]) -> Ask:
    """The ask in a request to ``/v1/chat/completions``. Raises: KeyError or TypeError if it is none."""
    form = body.get("response_format") or {}
    choice = body.get("tool_choice")
    tools = [
        Tool(
            given["function"]["name"],
            given["function"].get("description", ""),
            given["function"].get("parameters") or {"type": "object"},
        )
        for given in body.get("tools") or []
    ]
    return Ask(
        messages=[_chat_message(given) for given in body["messages"]],
        tools=[] if choice == "none" else tools,
        must_call=_must_call(choice["function"] if isinstance(choice, dict) and "function" in choice else choice),
        json_schema=(form.get("json_schema") or {}).get("schema"),
        wants_json=form.get("type") == "json_object",
        one_call_at_a_time=body.get("parallel_tool_calls") is False,
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
    )


def _chat_message(given: Mapping[str, Any]) -> Message:
    calls = given.get("tool_calls") or []
    made = tuple((call["function"]["name"], _arguments(call["function"].get("arguments"))) for call in calls)
    ids = " ".join([given.get("tool_call_id") or "", *(call["id"] for call in calls)])
    return Message(given["role"], _text(given.get("content")), made, ids)


def write_chat(body: Mapping[str, Any], said: Said, n_in: int, n_out: int) -> Json:
    """The whole response."""
    calls = _chat_calls(said)
    message: Json = {"role": "assistant", "content": said.text or None} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": _finish(said), "logprobs": None}
    return {**_chat_head(body, said, "chat.completion"), "usage": _chat_usage(n_in, n_out), "choices": [choice]}


def stream_chat(body: Mapping[str, Any], said: Said, n_in: int, n_out: int) -> Iterator[Step]:
    """The response in chunks."""
    head = _chat_head(body, said, "chat.completion.chunk")

    def chunk(delta: Json, end: str | None = None) -> Event:
        return Event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})

    yield chunk({"role": "assistant", "content": ""})
    yield Paced(said.text, lambda piece: chunk({"content": piece}))
    for n, call in enumerate(_chat_calls(said)):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": n, "function": {**function, "arguments": ""}}]})
        yield Paced(function["arguments"], _argument_chunk(chunk, n))
    yield chunk({}, _finish(said))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield Event({**head, "choices": [], "usage": _chat_usage(n_in, n_out)})
    yield DONE


def _argument_chunk(chunk: Callable[[Json], Event], n: int) -> Callable[[str], Event]:
    return lambda piece: chunk({"tool_calls": [{"index": n, "function": {"arguments": piece}}]})


def _chat_head(body: Mapping[str, Any], said: Said, kind: str) -> Json:
    return {"id": f"chatcmpl-{said.mark}", "object": kind, "created": CREATED, "model": body.get("model", "double")}


def _chat_usage(n_in: int, n_out: int) -> Json:
    return {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}


def _chat_calls(said: Said) -> list[Json]:
    return [
        {"id": f"call_{said.mark}_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(made)}}
        for n, (name, made) in enumerate(said.calls)
    ]


def _finish(said: Said) -> str:
    return "tool_calls" if said.calls else "stop"


# -- Responses


def read_responses(body: Mapping[str, Any]) -> Ask:
    """The ask in a request to ``/v1/responses``. Raises: KeyError or TypeError if it is none."""
    given = body.get("input") or []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    choice = body.get("tool_choice")
    form = (body.get("text") or {}).get("format") or {}
    tools = [
        Tool(tool["name"], tool.get("description", ""), tool.get("parameters") or {"type": "object"})
        for tool in body.get("tools") or []
        if tool.get("type") == "function"
    ]
    return Ask(
        messages=[Message("system", body.get("instructions") or ""), *_items(items)],
        tools=tools,
        must_call=_must_call(choice),
        json_schema=form.get("schema"),
        wants_json=form.get("type") == "json_object",
        one_call_at_a_time=body.get("parallel_tool_calls") is False,
        max_tokens=body.get("max_output_tokens"),
    )


def _items(items: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for item in items:
        if item.get("type") == "function_call":
            call = (item["name"], _arguments(item.get("arguments")))
            yield Message("assistant", "", (call,), item.get("call_id", ""))
        elif item.get("type") == "function_call_output":
            yield Message("tool", _text(item.get("output")), (), item["call_id"])
        elif "role" in item:
            yield Message(item["role"], _text(item.get("content")))


def write_responses(body: Mapping[str, Any], said: Said, n_in: int, n_out: int) -> Json:
    """The whole response."""
    items: list[Json] = [
        {
            "type": "function_call", "id": f"fc_{said.mark}_{n}", "call_id": f"call_{said.mark}_{n}", "name": name,
            "arguments": json.dumps(arguments), "status": "completed",
        }
        for n, (name, arguments) in enumerate(said.calls)
    ]  # fmt: skip
    if not items:
        part = {"type": "output_text", "text": said.text, "annotations": []}
        about = {"type": "message", "id": f"msg_{said.mark}", "role": "assistant", "status": "completed"}
        items = [{**about, "content": [part]}]
    usage = {
        "input_tokens": n_in, "output_tokens": n_out, "total_tokens": n_in + n_out,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    return {
        "id": f"resp_{said.mark}", "object": "response", "created_at": CREATED, "status": "completed",
        "model": body.get("model", "double"), "output": items, "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "temperature": 1.0, "top_p": 1.0, "usage": usage,
    }  # fmt: skip


def stream_responses(body: Mapping[str, Any], said: Said, n_in: int, n_out: int) -> Iterator[Step]:
    """The response as events, numbered."""
    whole = write_responses(body, said, n_in, n_out)
    numbers = iter(range(10**9))

    def say(kind: str, facts: Json) -> Event:
        return Event({"type": kind, "sequence_number": next(numbers), **facts}, kind)

    def paced(text: str, kind: str, facts: Json) -> Paced:
        return Paced(text, lambda piece: say(kind, {**facts, "delta": piece}))

    yield say("response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}})
    for n, item in enumerate(whole["output"]):
        place = {"output_index": n, "item_id": item["id"]}
        is_text = "content" in item
        empty: Json = {"content": []} if is_text else {"arguments": ""}
        yield say("response.output_item.added", {"output_index": n, "item": {**item, "status": "in_progress", **empty}})
        if is_text:
            part = item["content"][0]
            here = {**place, "content_index": 0}
            yield say("response.content_part.added", {**here, "part": {**part, "text": ""}})
            yield paced(said.text, "response.output_text.delta", {**here, "logprobs": []})
            yield say("response.output_text.done", {**here, "text": said.text, "logprobs": []})
            yield say("response.content_part.done", {**here, "part": part})
        else:
            yield paced(item["arguments"], "response.function_call_arguments.delta", place)
            done = {"arguments": item["arguments"], "name": item["name"], **place}
            yield say("response.function_call_arguments.done", done)
        yield say("response.output_item.done", {"output_index": n, "item": item})
    yield say("response.completed", {"response": whole})


# -- Embeddings


def texts_to_embed(body: Mapping[str, Any]) -> list[str]:
    """The texts in a request to ``/v1/embeddings``; numbers of tokens are read as words."""
    given = body.get("input", [])
    is_one = isinstance(given, str) or (given and isinstance(given[0], int))
    return [text if isinstance(text, str) else " ".join(map(str, text)) for text in ([given] if is_one else given)]


def write_embeddings(body: Mapping[str, Any], texts: Sequence[str]) -> Json:
    """The vectors of *texts*, as numbers or in base64."""
    size = int(body.get("dimensions") or EMBEDDING_SIZE)
    is_base64 = body.get("encoding_format") == "base64"
    rows = []
    for n, text in enumerate(texts):
        vector = embed(text, size)
        value = base64.b64encode(vector.tobytes()).decode() if is_base64 else list(vector)
        rows.append({"object": "embedding", "index": n, "embedding": value})
    n_in = sum(map(count_tokens, texts))
    usage = {"prompt_tokens": n_in, "total_tokens": n_in}
    return {"object": "list", "data": rows, "model": body.get("model", "double"), "usage": usage}


def embed(text: str, size: int) -> array.array[float]:
    """A bag of words hashed into *size* places, of length one: near for texts that share words."""
    places: dict[int, float] = {}
    for word in re.findall(r"[a-z0-9]{3,}", text.lower()):
        place = zlib.crc32(word.encode()) % size
        places[place] = places.get(place, 0.0) + 1.0
    norm = sum(value * value for value in places.values()) ** 0.5 or 1.0
    vector = array.array("f", bytes(4 * size))
    for place, value in places.items():
        vector[place] = value / norm
    return vector


def error(message: str, kind: str = "invalid_request_error") -> Json:
    """An error's body."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _must_call(choice: Any) -> str | None:
    if isinstance(choice, dict):
        name = choice.get("name")
        return name if isinstance(name, str) else None
    return "any" if choice in ("required", "any") else None


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in content)
    return str(content or "")


def _arguments(text: str | None) -> Json:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
