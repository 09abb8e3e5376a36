"""Search providers: one codec a file, one call as the unit of a receipt, one chain that decides who is next."""

from firsthand.web.search.chain import Breaker, Chain, next_provider, noted
from firsthand.web.search.codec import Codec, Hits
from firsthand.web.search.ddgs import Ddgs
from firsthand.web.search.merge import fuse, merge, same_page_key
from firsthand.web.search.providers import KEYLESS, NAMES, Providers, Send, codecs

__all__ = [
    "KEYLESS",
    "NAMES",
    "Breaker",
    "Chain",
    "Codec",
    "Ddgs",
    "Hits",
    "Providers",
    "Send",
    "codecs",
    "fuse",
    "merge",
    "next_provider",
    "noted",
    "same_page_key",
]
