"""What the fuzzer begins with: the hostile corpora, golden pages, texts in many scripts, and the pieces these are made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firsthand.web.extract import charset

DATA = Path(__file__).parents[1] / "tests" / "data"
DEMO = Path(__file__).parents[1] / "demo" / "pages"
PAGE_MAX_BYTES = 4_096  # of a first page: small pages are tried more often, and break as well
TYPES = (None, "text/html", "text/html; charset=shift_jis", "application/xhtml+xml", "text/plain", "text/markdown",
         "application/json", "application/xml", "text/xml")  # fmt: skip


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def _split(words: str) -> list[bytes]:
    return [word.encode() for word in words.split(" ") if word]


GATE_WORDS = _split(
    "http:// https:// // @ : [ ] :: . %2e 。 \\ ? # xn-- 0x 127.0.0.1 2130706433 ::ffff: 64:ff9b:: 1e3 \t \0 localhost "
    ".internal é ⑫ ％ ａ \u00ad 8080 80 / .. com"
)
HEAD_WORDS = _split(
    "\r\n \n \r \r\n\r\n : HTTP/1.1 HTTP/1.0 200 204 304 101 103 content-length:5 transfer-encoding:chunked chunked , ;x= "
    "0 5 a -1 +5 0x5 set-cookie:a \0 \t connection:close"
)
CHARSET_WORDS = _split(
    "<meta\tcharset= > utf-8 utf-7 utf-16 utf-16le gbk sjis iso-2022-jp unicode_escape \0 \x1b \x1b$B \x1b(B \ufeff é 中 "
    "<?xml\tencoding=' hz-gb-2312 big5"
)
SHOWN_WORDS = _split(
    "\x1b[31m \x1b]8;; \u202e \u2066 \u200b \u2028 \x85 \0 [x](y) ![ ]( ) ** __ ` ``` ~~ < > <b> &amp; &lt; & # - + 1. "
    "1) \\ | \n \n\n \t \u00a0"
)
MATCHER_WORDS = _split(
    "\u00ad \u200b \u200d \u0301 \u0300 \u1161 \u11a8 ﬁ ﷺ ½ ² ① ’ “ – \u202e \ufe0f \U000e0100 \n \t \u3000 か\u3099 ｶﾞ 가 "
    "İ ſ . x é \u00a0"
)
PAGE_WORDS = _split(
    "<div> </div> <p> </p> <table><tr><td> </table> <td\tcolspan=99999> <pre> <code> <ul><li> <dl><dt> <script> </script> "
    "<style> <!-- --> <![CDATA[ ]]> <svg> <math> <template> <noscript> <textarea> <title> <select> <frameset> <plaintext> "
    "&nbsp; &#x0; &#xD800; &#x10FFFF; &lt; <br> <a\thref=javascript:x> <a\thref=//x> hidden aria-hidden=true "
    "style=display:none <h1> </h1> <article> <main> <meta\tcharset=utf-16> <base\thref=x:> <!doctype\thtml> <"
)


def gate() -> list[bytes]:
    """Every address of the corpus, and each as a redirect."""
    urls = [row["url"] for row in _rows("hostile-urls.jsonl") if len(row["url"]) < 500]
    found = [url.encode("utf-8", "surrogatepass") for url in urls]
    return found + [b"https://example.com/\0" + url for url in found[::4]]


def heads() -> list[bytes]:
    """Heads of the response corpus with a short body, and the framings that there are."""
    seeds = [
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
        b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nt: 1\r\n\r\n",
        b"HTTP/1.0 200\ncontent-type: text/html\n\n<p>x</p>",
        b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nxx",
    ]
    for row in _rows("hostile-responses.jsonl"):
        lines = [f"{name}: {value}" for name, value in row["headers"] if len(value) < 300]
        raw = row.get("wire", {}).get("raw", "")
        seeds.append(f"HTTP/1.1 {row['status']} X\r\n{chr(13) + chr(10)}".join(["", *lines, "", "<p>x"]).encode()[:900])
        seeds.append("\r\n".join([f"HTTP/1.1 {row['status']} X", *lines, "", "<p>x"]).encode()[:900])
        if raw and len(raw) < 900:
            seeds.append(raw.encode("latin-1", "replace"))
    return [b"\x07" + seed for seed in seeds]


def charsets() -> list[bytes]:
    """A sentence of each script in the charsets that hold it, declared in no, one or the other way."""
    seeds = []
    for sentence, codecs in _SENTENCES.items():
        for codec in codecs:
            body = f"<p>{sentence}</p>".encode(codec)
            label = charset._CODECS[codec][0] if codec in charset._CODECS else codec
            seeds += [b"\0" + body, f"text/html; charset={label}".encode() + b"\0" + body]
            seeds.append(b"\0" + f'<meta charset="{label}">'.encode() + body)
    return seeds


_SENTENCES = {
    "The river crosses three countries – “slowly”.": ("cp1252", "utf-8", "utf-16-le", "utf-16-be", "mac-roman"),
    "Příliš žluťoučký kůň úpěl ďábelské ódy.": ("cp1250", "iso8859-2", "utf-8"),
    "Река пересекает три страны.": ("cp1251", "koi8-r", "iso8859-5", "cp866", "utf-8"),
    "Ο ποταμός διασχίζει τρεις χώρες.": ("cp1253", "iso8859-7"),
    "川は三つの国を流れている。": ("cp932", "euc_jp", "iso2022_jp", "utf-8"),
    "这条河流经三个国家。": ("gb18030", "utf-8"),
    "這條河流經三個國家。": ("big5hkscs",),
    "강은 세 나라를 지난다.": ("cp949",),
    "يعبر النهر ثلاث دول.": ("cp1256", "iso8859-6"),
    "הנהר חוצה שלוש מדינות.": ("cp1255",),
    "แม่น้ำไหลผ่านสามประเทศ": ("cp874",),
}


def shown() -> list[bytes]:
    """Attacks on whoever looks: escapes, marks, markup, and plain words in several scripts."""
    texts = [
        "\x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07",
        "safe\u202egnp.exe \u2066hidden\u2069 \u200bzero \ufeffbom",
        "[link](javascript:alert(1)) ![img](http://evil.example/x.png) <img src=x onerror=alert(1)>",
        "# head\n\n> quote\n\n- item\n\n1. one\n\n```\ncode\n```\n\n    indented\n\n| a | b |\n|---|---|\n",
        "<script>alert(1)</script><style>*{}</style>&lt;b&gt;&amp;&#x3c;",
        "a*b*c _d_ `e` ~~f~~ **g** \\h $i$ ^j^ http://evil.example <http://evil.example>",
        "\"quoted\" 'single' =cmd|x @sum(1) +1 -1\r\nnext\ttab\x00nul\x7f\x85\u2028line",
        *_SENTENCES,
    ]
    return [text.encode() for text in texts] + [
        row["html"].encode()[:900] for row in _rows("hostile-pages-citation.jsonl")
    ]


def matcher() -> list[bytes]:
    """Texts with what folding is about, at several cuts."""
    texts = [
        "The limit is 10² – “sixty‑four” tables, co\u00adoperation and ﬁnal ﬀ; don’t use 5 000.",
        "表の上限は ６４ 個です。 次の 行。\n\nデータ ベース「結合」",
        "e\u0301a\u0300o\u0302 한글 \u1112\u1161\u11ab x\u200d\u200dy \ufe0f ½ ① ﷺ",
        "a\u0315\u0300\u05ae b\u202d c\u202e d\u2066 İ ı ſ K Å ǆ",
        *_SENTENCES,
    ]
    return [
        bytes(head) + text.encode() for text in texts for head in ((0, 255, 0, 0), (60, 90, 1, 0), (200, 128, 1, 0))
    ]


def pages() -> list[bytes]:
    """The golden pages, the demo's smaller ones, walls and hostile pages, one in each media type that suits it."""
    pages = [file.read_bytes() for file in sorted(DATA.glob("extract/*/*")) if file.suffix in (".html", ".txt", ".md")]
    pages += [file.read_bytes() for file in sorted(DEMO.glob("*.html"))]
    pages += [row["html"].encode() for row in _rows("hostile-pages-citation.jsonl")]
    pages.append(json.dumps({"a": [1, {"b": "text " * 9}], "c": None}).encode())
    pages.append(b"<?xml version='1.0'?><rss><channel><title>t</title><item><title>i</title></item></channel></rss>")
    return [bytes([n % len(TYPES) if n % 3 == 0 else 1]) + page[:PAGE_MAX_BYTES] for n, page in enumerate(pages)]
