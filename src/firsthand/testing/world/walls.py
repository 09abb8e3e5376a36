"""Pages that stand in the page's place, and real pages that look like them. All invented, none recorded."""

from __future__ import annotations

import html

from firsthand.testing.world.http import Reply

ARTICLE = (
    "The harbour of Aldermere silted up twice in the last century, and each time the town argued for years about who "
    "should pay for the dredging.",
    "The first survey, in 1921, found four fathoms at low water where the charts promised seven. Pilots had known it "
    "since the war and had stopped bringing in anything larger than a coaster.",
    "A second channel was cut in 1934 along the eastern wall. It held for thirty years, until the new breakwater turned "
    "the current and the sand came back within two winters.",
    "Today a small dredger works from March to October. It lifts about 60,000 cubic metres a year, which the county "
    "spreads on the beaches south of the pier.",
    "Whether this can go on is an open question: the licence for spreading ends in 2031, and the beaches have all the "
    "sand that they can hold.",
)
_REFUSAL = (
    "<!doctype html><html><head><title>{title}</title></head><body><center><h1>{title}</h1></center><hr></body></html>"
)


def refusal(status: int, title: str, headers: dict[str, str] | None = None) -> Reply:
    """A plain page of HTML with *status*, as a proxy makes it."""
    return Reply(_REFUSAL.format(title=html.escape(title)).encode(), status, headers=headers or {})


def bot_wall() -> Reply:
    """A check that runs in a browser: few words and a script."""
    return _page(
        "Just a moment...",
        "<h1>www.aldermere.example</h1><p>Checking your browser before you go on. This takes a few seconds.</p>"
        "<noscript>Enable JavaScript and cookies to continue</noscript>"
        '<div id="challenge-running"></div><form id="challenge-form" method="post"></form>'
        '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1"></script>',
        status=403,
    )


def cookie_wall() -> Reply:
    """A consent page without the article."""
    return _page(
        "Before you continue",
        "<h1>Your privacy matters to us</h1><p>We and our 812 partners store and read cookies on your device.</p>"
        "<button>Accept all cookies</button><button>Reject all</button>",
        status=403,
    )


def paywall() -> Reply:
    """The beginning of an article and an offer; it says so in the page's data, as publishers are asked to."""
    data = (
        '{"@context":"https://schema.org","@type":"NewsArticle","headline":"The harbour of Aldermere",'
        '"isAccessibleForFree":false}'
    )
    return _page(
        "The harbour of Aldermere",
        f'<article><h1>The harbour of Aldermere</h1><p>{ARTICLE[0]}</p></article><div class="paywall">'
        "<h2>Subscribe to continue reading</h2><p>This article is for subscribers only. Already a subscriber? "
        f'<a href="/login">Log in</a></p></div><script type="application/ld+json">{data}</script>',
    )


def login() -> Reply:
    """A form for name and password."""
    return _page(
        "Sign in",
        '<h1>Sign in</h1><form method="post" action="/session"><label>Name <input name="user"></label>'
        '<label>Password <input type="password" name="password"></label><button>Sign in</button></form>',
    )


def script_shell() -> Reply:
    """An empty body that a script would fill."""
    script = "window.__modules=[" + ",".join(f'"{n:06x}"' for n in range(10_000)) + "];"
    return _page(
        "Aldermere",
        f'<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
        f"<script>{script}</script>",
    )


def soft_404() -> Reply:
    """A page that says it is not there, with a status that says it is."""
    return _page(
        "Page not found",
        "<h1>404: page not found</h1><p>Sorry, the page you are looking for does not exist or has been moved.</p>"
        '<p><a href="/">Back to the home page</a></p>',
    )


def captcha_article() -> Reply:
    """A whole article with a captcha for its comment form."""
    return _page(
        "The harbour of Aldermere",
        f'{_article()}<form class="comments"><div class="g-recaptcha" data-sitekey="none"></div><button>Post</button></form>'
        '<script src="https://www.google.com/recaptcha/api.js" async></script>',
    )


def consent_article() -> Reply:
    """A whole article under a banner."""
    return _page(
        "The harbour of Aldermere",
        '<div id="cookie-banner" role="dialog"><p>We use cookies.</p><button>Accept all cookies</button></div>'
        f"{_article()}<footer><p>Subscribe to our newsletter.</p></footer>",
    )


def wrong_charset() -> Reply:
    """An article in UTF-8 that its header calls ISO-8859-1 and its head calls UTF-8."""
    words = (
        "Der Hafen von Ålesund liegt geschützt; das Wasser ist dort sieben Meter tief. 港は七メートルの深さがあります。"
    )
    made = _page("Ålesund", f"<article><h1>Ålesund</h1><p>{words}</p>{_article()}</article>")
    return Reply(made.body, content_type="text/html; charset=ISO-8859-1")


def _article() -> str:
    return "<article><h1>The harbour of Aldermere</h1>" + "".join(f"<p>{text}</p>" for text in ARTICLE) + "</article>"


def _page(title: str, body: str, *, status: int = 200) -> Reply:
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return Reply(f'<!doctype html><html lang="en">{head}<body>{body}</body></html>'.encode(), status)


PAGES = {
    "bot-wall": bot_wall,
    "challenge": bot_wall,
    "cookie-wall": cookie_wall,
    "paywall": paywall,
    "login": login,
    "script-shell": script_shell,
    "soft-404": soft_404,
    "captcha-article": captcha_article,
    "consent-article": consent_article,
    "wrong-charset": wrong_charset,
}
