"""Spellings a slip of the finger away: pure. The index says which of them it holds."""

from __future__ import annotations

MIN_CHARS = 4  # below, nearly every word is a slip away from another
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def slips(term: str) -> set[str]:
    """Every string one letter lost, added, changed or swapped away from *term*, which is not among them.

    Order: none. Cost: some 54 strings a letter; the first letter stays, since people rarely miss it.
    """
    if len(term) < MIN_CHARS or not term.isalpha():
        return set()
    letters = sorted({*_LETTERS, *term})
    found: set[str] = set()
    for at in range(1, len(term) + 1):
        head, tail = term[:at], term[at:]
        found.update(head + letter + tail for letter in letters)
        if tail:
            found.add(head + tail[1:])
            found.update(head + letter + tail[1:] for letter in letters)
        if len(tail) > 1:
            found.add(head + tail[1] + tail[0] + tail[2:])
    found.discard(term)
    return found
