"""Search providers: one codec a file, one call as the unit of a receipt, one chain that decides who is next."""

from firsthand.web.search.chain import Breaker, Chain, combined, next_provider, noted
from firsthand.web.search.codec import Codec, Hits
from firsthand.web.search.ddgs import Ddgs
from firsthand.web.search.facts import FACTS
from firsthand.web.search.merge import fuse, merge, same_page_key
from firsthand.web.search.providers import KEYLESS, NAMES, VENDOR_URLS, Call, Providers, Send, codecs

__all__ = [
    "FACTS",
    "KEYLESS",
    "NAMES",
    "VENDOR_URLS",
    "Breaker",
    "Call",
    "Chain",
    "Codec",
    "Ddgs",
    "Hits",
    "Providers",
    "Send",
    "codecs",
    "combined",
    "fuse",
    "merge",
    "next_provider",
    "noted",
    "same_page_key",
]
