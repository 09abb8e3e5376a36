"""What came instead of the page: checks for robots, consent forms, paywalls, log-ins, script shells, missing pages.

A false wall loses a good page, so the rules are cautious: a page with a body of its own is a page, whatever scripts it
loads and whatever it says. Below that, a wall needs a mark that only walls carry (``web.signs``), or two signs that
agree: what it says *and* how it is built. Kinds are tried from the surest to the weakest.

Pure: bytes, status, headers and addresses in, a ``Wall`` or None out. Cost: see ``web.skim``; a page with 400
words of running text is let through before it is looked at in detail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from firsthand.values import HttpResponse
from firsthand.web import signs
from firsthand.web.skim import LOOKED_AT_BYTES, Skim, has_much_text, skim, source_of, title_of
from firsthand.web.sniff import media_type_of

BODY_WORDS = 400  # in sentences and headlines: the longest wall seen (Anubis) has 170 in all, teasers up to 300
BOT_LINK_WORDS_MAX = 50  # a challenge leads nowhere: a few words of terms and help
BOT_WORDS_MAX = 200  # Cloudflare's block page has 150 with its explanations
PHRASE_WORDS_MAX = 60  # guess: a wall that a site words by itself is short
ALONE_WORDS_MAX = 5  # a page that is nothing but a captcha
CONSENT_WORDS_MAX = 300
CONSENT_OWN_MAX = 25  # words that are not about consent: a greeting, the site's name
TEASER_WORDS_MAX = 300
TEASER_UNMARKED_MAX = 150
GATE_BLOCK_MAX = 25  # words of the block that says so; in a longer one it is prose
MISSING_WORDS_MAX = 80
MISSING_ALONE_MAX = 25
FORM_WORDS_MAX = 60
FORM_ALONE_MAX = 12
PARKED_WORDS_MAX = 60
SHELL_WORDS_MAX = 20
SHELL_SCRIPT_CHARS = 2_000
NOSCRIPT_WORDS_MIN = 60  # a page may have its text in noscript
PAGE_STATUSES = frozenset({200, 201, 203})
REFUSALS_READ = frozenset({202, 401, 403, 405, 406, 418, 429, 498, 503, 520, 999})

_PASSWORD = re.compile(r"""type\s{0,4}=\s{0,4}["']?password""")  # bounded repeats: cannot run away
_UNSHOWN = re.compile(r"\bhidden\b|display:\s?none")
_IMPERVA = re.compile(r"_incapsula_resource\?swjiylwa=[0-9a-f]{32},")  # two digests; the one on good pages has one
_SPACES = re.compile(r"[\s\\]+")
_TITLE_PARTS = re.compile(r"\s[-|·–—•:]\s|\s?[|»]\s?")
_AGAIN = "It is not asked again in this run."
_BY_HAND = "A person can open it in a browser and keep the saved page with 'firsthand add FILE'."

SENTENCES = {
    "bot_wall": f"{{by}} answered with a check for robots instead of the page. {_AGAIN} {_BY_HAND}",
    "bot_wall_busy": f"{{by}} takes this machine's requests for a robot's. {_AGAIN} Wait some hours, or ask less often (FIRSTHAND_HOST_INTERVAL_S).",
    "cookie_wall": f"The site answered with a consent form instead of the page, and nobody here can consent for you. {_AGAIN} {_BY_HAND}",
    "paywall": f"The site shows this page to subscribers only. {_AGAIN} If you are one: {_BY_HAND[0].lower()}{_BY_HAND[1:]}",
    "login_wall": f"The site answered with a log-in form instead of the page; no credentials are sent. {_AGAIN} {_BY_HAND}",
    "needs_javascript": "The page is empty until its scripts run. Install firsthand[browser] and set FIRSTHAND_BROWSER=on to have such pages rendered.",
    "soft_404": "The server sent a good status, but the page says that there is nothing at this address.",
    "parked": "The domain is parked: the site that was here is gone.",
    "empty": "The page has no text that a reader would see.",
}


@dataclass(frozen=True, slots=True)
class Wall:
    """What came instead of a page: a fine code of ``web.reply``, and one sentence for a person."""

    code: str
    sentence: str


def recognise(response: HttpResponse, *, asked: str = "") -> Wall | None:
    """The wall that *response* is, or None if it may be the page. *asked* is the address before redirects.

    Good statuses are judged by content, refusals by their content only as far as it shows a wall behind them.
    """
    if by := _challenged(response):
        return _bot_wall(by, response.status)
    is_refusal = response.status not in PAGE_STATUSES
    if is_refusal and response.status not in REFUSALS_READ:
        return None
    content_type = response.headers.get("content-type")
    if not is_refusal and not _may_be_html(response.body, content_type):
        return None
    source = source_of(response.body, content_type)
    if has_much_text(source, BODY_WORDS) and not _is_missing_title(title_of(source)):
        return None
    seen = skim(source)
    if seen.is_full or len(response.body) > LOOKED_AT_BYTES:
        return None
    page = _Judged(seen, response, asked)
    return page.refusal() if is_refusal else page.wall()


def _may_be_html(body: bytes, content_type: str | None) -> bool:
    """Whether a page could be a wall at all; what it is exactly was judged before (``web.sniff``)."""
    declared = media_type_of(content_type)
    if declared in ("text/html", "application/xhtml+xml"):
        return True
    return declared in ("", "application/octet-stream", "application/unknown") and body[:256].lstrip()[:1] == b"<"


def _challenged(response: HttpResponse) -> str:
    for name, values, by in signs.CHALLENGE_HEADERS:
        if response.headers.get(name, "").strip().lower() in values:
            return by
    return ""


def _bot_wall(by: str, status: int) -> Wall:
    sentence = SENTENCES["bot_wall_busy" if status == 429 else "bot_wall"]
    return Wall("bot_wall", sentence.format(by=f"The site's guard ({by})" if by else "The site"))


def _wall(code: str) -> Wall:
    return Wall(code, SENTENCES[code])


class _Judged:
    """One page that has little text, with everything the rules look at."""

    def __init__(self, seen: Skim, response: HttpResponse, asked: str) -> None:
        self.seen = seen
        self.source = seen.source
        self.text = seen.text
        self.status = response.status
        self.heads = [part for part in (seen.title, *seen.headings) if part]
        self.url = urlsplit(response.url.lower())
        self.is_moved = bool(asked) and _place(urlsplit(asked.lower())) != _place(self.url)

    def wall(self) -> Wall | None:
        """Of a page with a good status."""
        if (by := self._bot()) is not None:
            return _bot_wall(by, self.status)
        if len(self.seen.noscript.split()) > NOSCRIPT_WORDS_MIN:
            return None  # forums keep their posts there
        for code, is_so in (
            ("cookie_wall", self._is_consent),
            ("login_wall", self._is_login),
            ("paywall", self._is_paywall),
            ("soft_404", self._is_missing),
            ("parked", self._is_parked),
            ("needs_javascript", self._is_shell),
            ("empty", self._is_empty),
        ):
            if is_so():
                return _wall(code)
        return None

    def refusal(self) -> Wall | None:
        """Behind a status that refuses."""
        if (by := self._bot()) is not None:
            return _bot_wall(by, self.status)
        if self.status == 401:
            return None
        if self.seen.n_scripts and not self.seen.blocks and not self.seen.controls:
            return _bot_wall("", self.status)  # a refusal that is nothing but a script
        if self._accepts() and self._has_consent_words():
            return _wall("cookie_wall")
        if self.status == 403 and self._has_gate():
            return _wall("paywall")
        return None

    # -- Checks for robots

    def _bot(self) -> str | None:
        """Whose check it is (empty if nobody signed it), or None."""
        if self.url.hostname in signs.BOT_HOSTS:
            return ""
        if self.seen.n_words > BOT_WORDS_MAX or self.seen.n_link_words > BOT_LINK_WORDS_MAX:
            return None
        for mark, by in signs.BOT_MARKS:
            if mark in self.source and (self.status >= 400 or mark not in self.text):  # in its text it is documentation
                return by
        if _IMPERVA.search(self.source):
            return "Imperva"
        signed = self._signed()
        return self._own_check() if signed is None else signed

    def _signed(self) -> str | None:
        """Words that a guard signs its pages with: of a refusal, of a short page, or of a title."""
        is_short = self.seen.n_words <= PHRASE_WORDS_MAX
        for words, by in signs.BOT_WORDS:
            is_told = self.status >= 400 or is_short or any(words[0] in head for head in self.heads)
            if is_told and all(word in self.text for word in words):
                return by
        is_titled = any(title in head for head in self.heads for title in signs.BOT_TITLES)
        return "" if is_titled and is_short else None

    def _own_check(self) -> str | None:
        """A check that the site worded by itself: it says so *and* it has a captcha, or refuses. Or a captcha alone."""
        is_short = self.seen.n_words <= PHRASE_WORDS_MAX
        places = [*self.heads, self.text] if is_short or self.status >= 400 else self.heads
        has_captcha = any(sign in self.source for sign in signs.CAPTCHAS)
        if has_captcha and (self.seen.n_words <= ALONE_WORDS_MAX or (is_short and self.status >= 400)):
            return ""
        if not any(phrase in place for place in places for phrase in signs.BOT_PHRASES):
            return None
        is_refused = self.status >= 400 or any(path in f"{self.url.path}?" for path in signs.BOT_PATHS)
        return "" if has_captcha or is_refused else None

    # -- Consent

    def _is_consent(self) -> bool:
        is_consent_host = (self.url.hostname or "").startswith(signs.CONSENT_HOSTS)
        if self.seen.n_words > CONSENT_WORDS_MAX or not self._accepts():
            return False
        if is_consent_host and self.seen.n_words <= CONSENT_OWN_MAX:
            return True
        if not self._has_consent_words():
            return False
        own = sum(
            block.n_words
            for block in self.seen.blocks
            if not block.is_consent and not any(word in block.text for word in signs.CONSENT_WORDS)
        )
        is_gate = self.is_moved and (is_consent_host or any(path in self.url.path for path in signs.CONSENT_PATHS))
        if is_gate:
            return own <= 4 * CONSENT_OWN_MAX
        return own <= CONSENT_OWN_MAX and 2 * own <= self.seen.n_words  # a short page with a banner has more of its own

    def _accepts(self) -> bool:
        return any(
            control == word or control.startswith(f"{word} ")
            for control in self.seen.controls
            for word in signs.ACCEPTING
        )

    def _has_consent_words(self) -> bool:
        return any(word in self.text for word in signs.CONSENT_WORDS)

    # -- Log-in

    def _is_login(self) -> bool:
        n_words = self.seen.n_words
        if n_words > FORM_WORDS_MAX:
            return False
        is_titled = any(_says(head, signs.LOGIN) for head in self.heads)
        is_offered = is_titled or any(_says(control, signs.LOGIN) for control in self.seen.controls)
        has_password = self._has_password()
        if any(
            demand in head and len(head) < len(demand) + 12 for head in self.heads for demand in signs.LOGIN_DEMANDS
        ):
            return True
        if self.is_moved and self._is_login_address() and (is_offered or has_password or "samlrequest" in self.source):
            return True
        return has_password and (is_titled or (is_offered and n_words <= FORM_ALONE_MAX))

    def _has_password(self) -> bool:
        """Whether there is a field for a password in a form that is shown."""
        found = _PASSWORD.search(self.source)
        if found is None:
            return False
        form = self.source.rfind("<form", 0, found.start())
        return form < 0 or not _UNSHOWN.search(self.source[form : self.source.find(">", form)])

    def _is_login_address(self) -> bool:
        segments = self.url.path.strip("/").split("/")
        return (self.url.hostname or "").startswith(signs.LOGIN_HOSTS) or any(
            segment in signs.LOGIN_SEGMENTS for segment in segments
        )

    # -- Subscriptions

    def _is_paywall(self) -> bool:
        if self.seen.n_words > TEASER_WORDS_MAX:
            return False
        return self._has_gate() and (self.seen.n_words <= TEASER_UNMARKED_MAX or self._is_marked_not_free())

    def _is_marked_not_free(self) -> bool:
        if "isaccessibleforfree" not in self.source:
            return False
        tight = _SPACES.sub("", self.source)
        return any(mark in tight for mark in signs.NOT_FREE + signs.NOT_FREE_MICRODATA)

    def _has_gate(self) -> bool:
        short = [block.text for block in self.seen.blocks if block.n_words <= GATE_BLOCK_MAX]
        return any(gate in text for text in (*short, *self.seen.controls) for gate in signs.GATES)

    # -- Nothing there

    def _is_missing(self) -> bool:
        if self.seen.n_words > MISSING_WORDS_MAX:
            return False
        is_titled = any(_is_missing_title(head) for head in self.heads)
        is_at_404 = self.is_moved and self.url.path.rstrip("/").endswith(signs.MISSING_PATHS)
        if not (is_titled or is_at_404):
            return False
        return self.seen.n_words <= MISSING_ALONE_MAX or any(words in self.text for words in signs.MISSING_WORDS)

    def _is_parked(self) -> bool:
        if self.seen.n_words > PARKED_WORDS_MAX:
            return False
        short = [block.text for block in self.seen.blocks if block.n_words <= GATE_BLOCK_MAX]
        places = (*short, *self.seen.controls, self.seen.title)
        is_said = any(words in place for place in places for words in signs.PARKED_WORDS)
        return is_said or any(mark in self.source for mark in signs.PARKED_MARKS)

    def _is_shell(self) -> bool:
        seen = self.seen
        if not seen.n_scripts or seen.n_words > SHELL_WORDS_MAX:
            return False
        if _demands_scripts(self.text) and not seen.headings:
            return True
        if seen.n_words + seen.n_link_words // 2 > SHELL_WORDS_MAX or seen.headings:
            return False
        is_heavy = seen.n_script_chars > max(SHELL_SCRIPT_CHARS, 20 * len(self.text)) and seen.n_words < 6
        has_root = any(root in self.source for root in signs.APP_ROOTS)
        return has_root or is_heavy or not seen.blocks or _demands_scripts(seen.noscript)

    def _is_empty(self) -> bool:
        return not self.seen.blocks and not self.seen.n_link_words and not self.seen.noscript.strip()


def _place(url: SplitResult) -> tuple[str, str]:
    """Host and path without what commonly differs between two spellings of one page."""
    return (url.hostname or "").removeprefix("www."), url.path.rstrip("/")


def _says(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether *text* is one of *phrases*, begins with one, or is a few words around one."""
    return any(
        text == phrase or (phrase in text and (text.startswith(phrase) or len(text) < len(phrase) + 25))
        for phrase in phrases
    )


def _is_missing_title(head: str) -> bool:
    """Whether one of the parts of a title says so, and says nothing else to speak of."""
    said = [(phrase, phrase not in signs.MISSING_ANYTHING) for phrase in signs.MISSING if phrase in head]
    if not said:
        return False
    for part in (head, *_TITLE_PARTS.split(head)):
        part = part.strip(" .!?()0123456789:…")
        whole = head.strip(" .!")
        if any(
            phrase in (whole, part.removeprefix("error "))
            or (is_told and phrase in part and len(part) <= len(phrase) + 22)
            for phrase, is_told in said
            if phrase != "404" or whole == "404"
        ):
            return True
    return False


def _demands_scripts(text: str) -> bool:
    at = text.find("javascript")
    if at < 0:
        return False
    near = text[max(0, at - 120) : at + 120]
    return any(word in near for word in signs.SCRIPT_DEMANDS)
