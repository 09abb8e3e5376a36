"""The model double behind OpenAI's wire, with the waits of a model."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from firsthand.testing.world import openai, wire
from firsthand.testing.world.core import STATUSES, Core, refusal, until
from firsthand.testing.world.double import Double, Said
from firsthand.testing.world.http import Out, Request, json_reply
from firsthand.testing.world.journal import Open, Seen
from firsthand.testing.world.prompt import Ask, count_tokens
from firsthand.testing.world.trouble import Trouble

PIECE_CHARS = 4  # of a stream: a token
MAX_SAID_CHARS = 8000  # that the log keeps of a reply


@dataclass(frozen=True, slots=True)
class _Api:
    """One of the two wires: how a request is read, and a reply written."""

    name: str
    read: Callable[[Mapping[str, Any]], Ask]
    write: Callable[[Mapping[str, Any], Said, int, int], dict[str, Any]]
    stream: Callable[[Mapping[str, Any], Said, int, int], Iterable[openai.Step]]


CHAT = _Api("chat", openai.read_chat, openai.write_chat, openai.stream_chat)
RESPONSES = _Api("responses", openai.read_responses, openai.write_responses, openai.stream_responses)


class Model:
    """The model of one world."""

    def __init__(self, core: Core, double: Double) -> None:
        self._core = core
        self._double = double

    async def complete(self, api: _Api, request: Request, out: Out, seen: Seen) -> None:
        """Answer a request for a reply, whole or as a stream."""
        body = request.json()
        ask = api.read(body)
        found, settings = self._core.trouble(request, seen), self._core.settings
        with self._core.journal.event("model", settings.run) as here:
            if not await self._core.is_good(here, found):
                await self._refuse(here, found, out)
                return
            said = self._double.reply(ask)
            prompt, is_stream = _asked(ask), bool(body.get("stream"))
            n_in, n_out = _count(ask, prompt), count_tokens(said.output)
            here.said = said.output[:MAX_SAID_CHARS]
            here.asked = prompt + "".join("\n" + message.ids for message in ask.messages)
            here.gave = f"{said.output}\n{said.mark}"
            here.facts = {
                "prompt_chars": len(prompt), "prompt_tokens": n_in, "output_tokens": n_out, "api": api.name,
                "stream": is_stream, "tools": [tool.name for tool in ask.tools],
                "calls": [name for name, _ in said.calls], "status": 200, "trouble": seen.trouble,
            }  # fmt: skip
            first_s = here.wait_s + settings.first_token_ms / 1000
            total_s = first_s + (n_out / settings.tokens_per_s if settings.tokens_per_s else 0.0)
            await self._core.wait(here, first_s if is_stream else total_s)
            here.wait_s = total_s
            if is_stream:
                await self._stream(api.stream(body, said, n_in, n_out), here.start + first_s, out)
            else:
                out.send(json_reply(api.write(body, said, n_in, n_out)))
                await out.end()

    async def _stream(self, steps: Iterable[openai.Step], start: float, out: Out) -> None:
        """Send the events of a reply; *start* is when its first token is due."""
        out.start(200, "text/event-stream", None, {})
        for step in steps:
            if isinstance(step, openai.Event):
                out.event(step.value, step.name)
                continue
            async for piece in self._pieces(start, step.text):
                event = step.event(piece)
                out.event(event.value, event.name)
        await out.end()

    async def _refuse(self, here: Open, found: Trouble | None, out: Out) -> None:
        assert found is not None
        await self._core.wait(here, here.wait_s + self._core.settings.first_token_ms / 1000)
        if found.name in STATUSES:
            out.send(refusal(found, lambda status, reason: json_reply(openai.error(reason), status)))
        else:
            await wire.misbehave(found, out)
        here.facts = {"trouble": str(found), "status": out.status, "prompt_tokens": 0, "output_tokens": 0}

    async def _pieces(self, start: float, text: str) -> AsyncIterator[str]:
        """The pieces of *text* at the model's pace; *start* is when its first token is due."""
        for n in range(0, len(text), PIECE_CHARS):
            if self._core.settings.tokens_per_s:
                due = start + (n // PIECE_CHARS + 1) / self._core.settings.tokens_per_s
                if due - time.time() > 0.002:  # shorter sleeps cost more than they wait
                    await until(due)
            elif n % 256 == 0:
                await asyncio.sleep(0)
            yield text[n : n + PIECE_CHARS]

    async def embed(self, request: Request, out: Out, seen: Seen) -> None:
        """Answer a request for vectors."""
        body = request.json()
        texts = openai.texts_to_embed(body)
        found = self._core.trouble(request, seen)
        with self._core.journal.event("embed", self._core.settings.run) as here:
            if not await self._core.is_good(here, found):
                await self._refuse(here, found, out)
                return
            reply = json_reply(openai.write_embeddings(body, texts))
            here.asked = here.gave = "\n".join(texts)
            here.facts = {"prompt_tokens": sum(map(count_tokens, texts)), "n_texts": len(texts), "status": 200}
            await self._core.wait(here, here.wait_s + self._core.settings.embed_ms / 1000)
            out.send(reply)


def _asked(ask: Ask) -> str:
    """All that the prompt says, calls included."""
    calls = [json.dumps(arguments) for message in ask.messages for _, arguments in message.calls]
    return "\n".join([message.text for message in ask.messages] + calls)


def _count(ask: Ask, prompt: str) -> int:
    """Tokens of the prompt and of the tools that it offers."""
    tools = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in ask.tools]
    return count_tokens(prompt) + sum(count_tokens(json.dumps(tool)) for tool in tools)
