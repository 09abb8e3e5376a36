"""A test world: sites, search engines in their own dialects, a model double, and misbehaviour, all on loopback.

    python -m firsthand.testing.world --pages FOLDER

Every wait is simulated and known, so what a program adds to it can be measured; every request is logged, so what it
could have done at the same time can be worked out (``trace``). Standard library only.
"""

from firsthand.testing.world.fixture import world_fixture
from firsthand.testing.world.http import Reply
from firsthand.testing.world.journal import Seen
from firsthand.testing.world.library import Library, read_html
from firsthand.testing.world.searches import ENGINE_NAMES
from firsthand.testing.world.served import World
from firsthand.testing.world.settings import Settings
from firsthand.testing.world.trouble import TROUBLES, Trouble

__all__ = [
    "ENGINE_NAMES",
    "TROUBLES",
    "Library",
    "Reply",
    "Seen",
    "Settings",
    "Trouble",
    "World",
    "read_html",
    "world_fixture",
]
