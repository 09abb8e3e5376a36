"""Names of things: digests say what something is, random ids only that it is another one."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets

from firsthand.values import JsonValue


def payload_digest(payload: bytes) -> str:
    """The name of a snapshot: ``sha256:`` and the hex digest of its bytes."""
    return "sha256:" + hashlib.sha256(payload).hexdigest()


def text_digest(body: str) -> str:
    """The name of a text: ``sha256:`` and the hex digest of its UTF-8 bytes."""
    return payload_digest(body.encode("utf-8", "surrogatepass"))


def canonical_json(value: JsonValue) -> str:
    """One spelling of a JSON value: keys sorted, no white space, no escapes beyond the needed."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def content_key(*parts: JsonValue) -> str:
    """A key for what is asked: equal parts give equal keys, in any process."""
    return hashlib.sha256(canonical_json(list(parts)).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def new_id(prefix: str) -> str:
    """*prefix*, a dash, and 16 characters of lower-case base 32 from the system's random source (80 bits)."""
    return f"{prefix}-{base64.b32encode(secrets.token_bytes(10)).decode().lower()}"
