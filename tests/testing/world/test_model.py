"""The model double over OpenAI's wire: chat, responses, embeddings, streams, and its troubles."""

from __future__ import annotations

import base64
import json
import math
import struct
from typing import Any

import pytest

from firsthand.testing.world import World
from tests.testing.asking import Answer, ask

MESSAGES = [
    {
        "role": "user",
        "content": "What is a lighthouse? Source: http://127.0.0.2/a. A lighthouse is a tower with a light that ships can see from afar.",
    }
]
TOOL = {"name": "web_search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}


def events(answer: Answer) -> list[dict[str, Any]]:
    """The events of a stream, its last mark left out."""
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def chat(world: World, **more: Any) -> Answer:
    return ask(f"{world.model_url}/chat/completions", {"model": "double", "messages": MESSAGES, **more})


def respond(world: World, **more: Any) -> Answer:
    return ask(f"{world.model_url}/responses", {"model": "double", "input": MESSAGES, **more})


def test_a_stream_of_a_chat_says_what_the_whole_reply_says(world: World) -> None:
    whole = chat(world).json()
    answer = chat(world, stream=True, stream_options={"include_usage": True})
    assert answer.text.endswith("data: [DONE]\n\n")
    *chunks, last = events(answer)
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    assert text == whole["choices"][0]["message"]["content"] and "a tower with a light" in text
    assert (chunks[-1]["choices"][0]["finish_reason"], last["usage"]) == ("stop", whole["usage"])


def test_a_stream_is_waited_for_to_its_last_token(world: World) -> None:
    world.reset(first_token_ms=20, tokens_per_s=5_000)
    usage = chat(world).json()["usage"]
    chat(world, stream=True)
    wait_s = 0.02 + usage["completion_tokens"] / 5_000
    stats = world.stats()
    assert stats["model"]["wait_s"] == pytest.approx(2 * wait_s, abs=0.001)
    assert stats["in_flight_s"] >= 2 * wait_s - 0.004  # the last token's own sleep may be left out: it is too short


def test_tools_are_called_whole_and_in_a_stream(world: World) -> None:
    tools = [{"type": "function", "function": TOOL}]
    whole = chat(world, tools=tools).json()["choices"][0]
    calls = whole["message"]["tool_calls"]
    assert (whole["finish_reason"], [call["function"]["name"] for call in calls]) == ("tool_calls", ["web_search"] * 3)
    made = ["", "", ""]
    for chunk in events(chat(world, tools=tools, stream=True)):
        for call in chunk["choices"][0]["delta"].get("tool_calls", []):
            made[call["index"]] += call["function"]["arguments"]
    assert made == [call["function"]["arguments"] for call in calls]
    assert "tool_calls" not in chat(world, tools=tools, tool_choice="none").json()["choices"][0]["message"]


def test_a_stream_of_responses_is_numbered_and_ends_with_the_whole(world: World) -> None:
    whole = respond(world).json()
    found = events(respond(world, stream=True))
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    deltas = "".join(event["delta"] for event in found if event["type"] == "response.output_text.delta")
    assert deltas == whole["output"][0]["content"][0]["text"]
    assert found[-1] == {"type": "response.completed", "sequence_number": len(found) - 1, "response": whole}


def test_responses_call_tools_and_read_what_they_brought(world: World) -> None:
    tools = [{"type": "function", **TOOL}]
    call, *_ = respond(world, tools=tools).json()["output"]
    assert (call["type"], call["name"]) == ("function_call", "web_search")
    brought = {"type": "function_call_output", "call_id": call["call_id"], "output": "nothing"}
    after = respond(world, tools=tools, input=[*MESSAGES, call, brought]).json()
    assert after["output"][0]["type"] == "message"
    streamed = events(respond(world, tools=tools, stream=True))
    assert "response.function_call_arguments.done" in [event["type"] for event in streamed]


def test_the_same_prompt_costs_the_same_tokens_by_either_wire(world: World) -> None:
    by_chat, by_responses = chat(world).json()["usage"], respond(world).json()["usage"]
    assert by_chat["completion_tokens"] == by_responses["output_tokens"]
    assert abs(by_chat["prompt_tokens"] - by_responses["input_tokens"]) <= 1  # an empty system message stands before


def test_vectors_are_of_length_one_and_near_for_texts_that_share_words(world: World) -> None:
    def vectors(*texts: str, **more: Any) -> list[Any]:
        answer = ask(
            f"{world.model_url}/embeddings", {"model": "double", "input": list(texts), "dimensions": 64, **more}
        )
        return [row["embedding"] for row in answer.json()["data"]]

    one, near, far = vectors("red green blue", "red green grey", "seven eight nine")
    assert math.isclose(sum(value * value for value in one), 1, rel_tol=1e-5)

    def likeness(other: list[float]) -> float:
        return float(sum(a * b for a, b in zip(one, other, strict=True)))

    assert likeness(near) > 0.5 > likeness(far)
    (packed,) = vectors("red green blue", encoding_format="base64")
    assert list(struct.unpack("<64f", base64.b64decode(packed))) == pytest.approx(one)


def test_a_model_that_misbehaves_does_so_in_its_own_words(world: World) -> None:
    world.misbehave("model", "429?retry_after_s=2&times=1", "bot-wall")
    refused, wall = chat(world), chat(world)
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert "message" in refused.json()["error"]
    assert (wall.status, wall.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert [seen.trouble for seen in world.requests("model")] == ["429?retry_after_s=2&times=1", "bot-wall"]
    assert world.stats()["model"]["output_tokens"] == 0


def test_a_request_that_is_none_is_refused(world: World) -> None:
    assert ask(f"{world.model_url}/chat/completions", {"model": "double"}).status == 400
    assert ask(f"{world.model_url}/chat/completions", b"{", content_type="application/json").status == 400


def test_the_models_are_listed(world: World) -> None:
    assert [row["id"] for row in ask(f"{world.model_url}/models").json()["data"]] == ["double"]
