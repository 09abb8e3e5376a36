"""Which characters the bytes of a page are: found out once, recorded as declared and as chosen.

Order: byte order mark, HTTP header, declaration inside the page, strict UTF-8, a statistical detector, windows-1252.
A declaration loses against bytes that are strict UTF-8 with something beyond ASCII in it: such bytes are hardly ever
anything else, while wrong declarations are common. One of UTF-8 also loses against bytes that mostly are not.

Only encodings of the Encoding Standard are ever used: utf-7, unicode_escape, punycode and their like would let a page
write what no reader sees.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from firsthand.web.sniff import unmarked_utf16

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_DECLARED_WITHIN_BYTES = 32_768  # the HTML standard looks at 1,024; pages with long heads declare later
_SAMPLE_BYTES = 65_536  # for the detector: from a little before the first byte that is not ASCII
_BEFORE_BYTES = 40  # guess: enough to begin with a whole word; a long menu in ASCII would outweigh a short text
_BAD_SHARE_MAX = 0.25  # guess: of bytes beyond ASCII; text cut out of UTF-8 has far fewer, Western text has all
# Bounded: each alternative is anchored on a literal and takes one run of a fixed class.
_DECLARATION = re.compile(
    rb"""<meta[^>]{0,512}?charset\s{0,8}=\s{0,8}["']?\s{0,8}([A-Za-z0-9_.:-]{1,40})"""
    rb"""|<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
_BODY = re.compile(rb"<body[\s>]", re.IGNORECASE)
_HEADER_CHARSET = re.compile(r"""charset\s{0,8}=\s{0,8}["']?\s{0,8}([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_JAPANESE_SHIFT = re.compile(rb"\x1b(?:\$[@B]|\(J)")  # ISO-2022-JP, RFC 1468
_CONTROLS = bytes({*range(9), 11, 12, *range(14, 27), *range(28, 32), 127})  # no text needs them; the detector balks

# Labels of the Encoding Standard (section 4.2) to the codec that reads what is really meant.
_CODECS: dict[str, tuple[str, ...]] = {
    "utf-8": ("utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"),
    "cp866": ("866", "cp866", "csibm866", "ibm866"),
    "iso8859-2": ("csisolatin2", "iso-8859-2", "iso-ir-101", "iso8859-2", "iso88592", "iso_8859-2", "l2", "latin2"),
    "iso8859-3": ("csisolatin3", "iso-8859-3", "iso-ir-109", "iso8859-3", "iso88593", "iso_8859-3", "l3", "latin3"),
    "iso8859-4": ("csisolatin4", "iso-8859-4", "iso-ir-110", "iso8859-4", "iso88594", "iso_8859-4", "l4", "latin4"),
    "iso8859-5": ("csisolatincyrillic", "cyrillic", "iso-8859-5", "iso-ir-144", "iso8859-5", "iso88595", "iso_8859-5"),
    "iso8859-6": ("arabic", "asmo-708", "csisolatinarabic", "ecma-114", "iso-8859-6", "iso-8859-6-e", "iso-8859-6-i",
                  "iso-ir-127", "iso8859-6", "iso88596", "iso_8859-6"),
    "iso8859-7": ("csisolatingreek", "ecma-118", "elot_928", "greek", "greek8", "iso-8859-7", "iso-ir-126",
                  "iso8859-7", "iso88597", "iso_8859-7", "sun_eu_greek"),
    "iso8859-8": ("csiso88598e", "csisolatinhebrew", "hebrew", "iso-8859-8", "iso-8859-8-e", "iso-8859-8-i",
                  "iso-ir-138", "iso8859-8", "iso88598", "iso_8859-8", "visual", "logical", "csiso88598i"),
    "iso8859-10": ("csisolatin6", "iso-8859-10", "iso-ir-157", "iso8859-10", "iso885910", "l6", "latin6"),
    "iso8859-13": ("iso-8859-13", "iso8859-13", "iso885913"),
    "iso8859-14": ("iso-8859-14", "iso8859-14", "iso885914"),
    "iso8859-15": ("csisolatin9", "iso-8859-15", "iso8859-15", "iso885915", "iso_8859-15", "l9"),
    "iso8859-16": ("iso-8859-16",),
    "koi8-r": ("cskoi8r", "koi", "koi8", "koi8-r", "koi8_r"),
    "koi8-u": ("koi8-ru", "koi8-u"),
    "mac-roman": ("csmacintosh", "mac", "macintosh", "x-mac-roman"),
    "cp874": ("dos-874", "iso-8859-11", "iso8859-11", "iso885911", "tis-620", "windows-874"),
    "cp1250": ("cp1250", "windows-1250", "x-cp1250"),
    "cp1251": ("cp1251", "windows-1251", "x-cp1251"),
    "cp1252": ("ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100",
               "iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii", "windows-1252",
               "x-cp1252"),
    "cp1253": ("cp1253", "windows-1253", "x-cp1253"),
    "cp1254": ("cp1254", "csisolatin5", "iso-8859-9", "iso-ir-148", "iso8859-9", "iso88599", "iso_8859-9", "l5",
               "latin5", "windows-1254", "x-cp1254"),
    "cp1255": ("cp1255", "windows-1255", "x-cp1255"),
    "cp1256": ("cp1256", "windows-1256", "x-cp1256"),
    "cp1257": ("cp1257", "windows-1257", "x-cp1257"),
    "cp1258": ("cp1258", "windows-1258", "x-cp1258"),
    "mac-cyrillic": ("x-mac-cyrillic", "x-mac-ukrainian"),
    "gb18030": ("chinese", "csgb2312", "csiso58gb231280", "gb2312", "gb_2312", "gb_2312-80", "gbk", "iso-ir-58",
                "x-gbk", "gb18030"),
    "big5hkscs": ("big5", "big5-hkscs", "cn-big5", "csbig5", "x-x-big5"),
    "euc_jp": ("cseucpkdfmtjapanese", "euc-jp", "x-euc-jp"),
    "iso2022_jp": ("csiso2022jp", "iso-2022-jp"),
    "cp932": ("csshiftjis", "ms932", "ms_kanji", "shift-jis", "shift_jis", "sjis", "windows-31j", "x-sjis"),
    "cp949": ("cseuckr", "csksc56011987", "euc-kr", "iso-ir-149", "korean", "ks_c_5601-1987", "ks_c_5601-1989",
              "ksc5601", "ksc_5601", "windows-949"),
    "utf-16-be": ("unicodefffe", "utf-16be"),
    "utf-16-le": ("csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "utf-16le"),
}  # fmt: skip
# What other systems, and the detector, call the same encodings.
_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "utf-8": ("utf_8", "utf8mb4", "utf-8-sig"),
    "utf-16-le": ("utf-16-le", "utf_16_le"),
    "utf-16-be": ("utf-16-be", "utf_16_be"),
    "iso8859-10": ("iso8859-10", "iso_8859-10"),
    "iso8859-13": ("iso_8859-13", "l7"),
    "iso8859-14": ("iso_8859-14", "l8"),
    "iso8859-16": ("iso8859-16", "iso_8859-16", "l10"),
    "cp1252": ("iso8859_1", "latin-1"),
    "mac-roman": ("mac-roman", "macroman"),
    "mac-cyrillic": ("mac-cyrillic", "maccyrillic"),
    "cp874": ("cp874",),
    "gb18030": ("cp936", "gb18030-2000", "ms936"),
    "big5hkscs": ("big5hkscs", "cp950", "ms950", "big5_hkscs"),
    "euc_jp": ("euc_jp", "eucjp", "eucjp-ms", "cp51932", "euc_jis_2004", "euc_jisx0213"),
    "iso2022_jp": ("iso2022_jp", "iso2022-jp", "iso2022_jp_2", "iso2022_jp_2004", "iso2022_jp_3", "iso2022_jp_ext"),
    "cp932": ("cp932", "shift_jis_2004", "shift_jisx0213", "windows-932"),
    "cp949": ("cp949", "euc_kr", "ms949", "uhc"),
}
_BY_LABEL = {label: codec for table in (_OTHER_NAMES, _CODECS) for codec, labels in table.items() for label in labels}
# What the detector may answer with: its names for the encodings above. GB 18030 and CP 949 hold their subsets; three
# parts of ISO 8859 that hardly a page was ever written in are read when declared and never guessed.
_DETECTABLE = (
    "ascii", "utf-8", "cp866", "iso8859-2", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8",
    "iso8859-13", "iso8859-15", "iso8859-16", "koi8-r", "koi8-u", "mac-roman", "cp874",
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "mac-cyrillic",
    "gb18030", "big5hkscs", "euc-jp", "iso-2022-jp", "cp932", "cp949",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decoded:
    """A payload as characters. ``declared`` is the label as given, by header or page, even when it was not used."""

    text: str
    chosen: str
    declared: str | None = None


def decode(payload: bytes, *, content_type: str | None = None) -> Decoded:
    """The characters of *payload*; bytes that its encoding does not know become U+FFFD. Never fails."""
    by_header, by_page = _header_label(content_type), _page_label(payload)
    declared = by_header or by_page
    for mark, codec in _BOMS:
        if payload.startswith(mark):
            return Decoded(payload[len(mark) :].decode(codec, "replace"), codec, declared)
    is_ascii = payload.isascii()
    if is_ascii and b"\x1b" not in payload and b"\0" not in payload:
        return Decoded(payload.decode("ascii"), _codec(declared) or "utf-8", declared)
    utf8 = _strict_utf8(payload)
    if utf8 is not None and not is_ascii:
        return Decoded(utf8, "utf-8", declared)
    for label in (by_header, by_page):
        chosen = _codec(label)
        # A page that could be read far enough to declare UTF-16 in ASCII is not UTF-16 (HTML standard, prescan).
        if chosen is None or (chosen.startswith("utf-16") and by_page):
            continue
        text = _decode_as(payload, chosen)
        if chosen != "utf-8" or text.count("\ufffd") <= _BAD_SHARE_MAX * _n_beyond_ascii(payload):
            return Decoded(text, chosen, declared)
    if (codec_name := unmarked_utf16(payload[:4096])) is not None:
        return Decoded(payload.decode(codec_name, "replace"), codec_name, declared)
    if utf8 is not None and not _JAPANESE_SHIFT.search(payload):
        return Decoded(utf8, "utf-8", declared)
    codec_name = "iso2022_jp" if is_ascii else _detected(payload)
    return Decoded(_decode_as(payload, codec_name), codec_name, declared)


def _codec(label: str | None) -> str | None:
    return _BY_LABEL.get(label.lower()) if label else None


def _n_beyond_ascii(payload: bytes) -> int:
    return len(payload) - len(payload.translate(None, bytes(range(128, 256))))


def _decode_as(payload: bytes, codec: str) -> str:
    """*payload* read as *codec*; the five bytes windows-1252 leaves open are C1 controls, as browsers have it."""
    if codec != "cp1252":
        return payload.decode(codec, "replace")
    return payload.decode("cp1252", _C1_FOR_UNDEFINED)


def _c1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


_C1_FOR_UNDEFINED = "firsthand-c1"
codecs.register_error(_C1_FOR_UNDEFINED, _c1)


def _header_label(content_type: str | None) -> str | None:
    found = _HEADER_CHARSET.search(content_type[:1000]) if content_type else None
    return found[1] if found else None


def _page_label(payload: bytes) -> str | None:
    """What the page says of itself in its head, comments passed over."""
    head = payload[:_DECLARED_WITHIN_BYTES]
    if not _DECLARATION.search(head):
        return None
    if body := _BODY.search(head):
        head = head[: body.start()]
    found = _DECLARATION.search(_without_comments(head))
    return (found[1] or found[2]).decode("ascii") if found else None


def _without_comments(head: bytes) -> bytes:
    """*head* without what stands in comments. One pass."""
    kept: list[bytes] = []
    at = 0
    while (start := head.find(b"<!--", at)) >= 0:
        kept.append(head[at:start])
        end = head.find(b"-->", start + 2)
        if end < 0:
            return b"".join(kept)
        at = end + 3
    kept.append(head[at:])
    return b"".join(kept)


def _strict_utf8(payload: bytes) -> str | None:
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _detected(payload: bytes) -> str:
    """The codec that the bytes look like, by their statistics; windows-1252 if they look like none.

    Cost: 2 ms, and 50 ms and 28 MB the first time (2026-11-30). Source of the choice: ``evals/charset.py``.
    """
    import chardet  # loaded only here: most pages declare or are UTF-8

    found = chardet.detect(_sample(payload), include_encodings=_DETECTABLE, compat_names=False)
    codec = _codec(found["encoding"]) or "cp1252"
    if codec == "utf-8":  # not strict UTF-8, or it would have been taken: read it so only if nearly all of it is
        text = payload.decode("utf-8", "replace")
        return codec if text.count("\ufffd") <= _BAD_SHARE_MAX * _n_beyond_ascii(payload) else "cp1252"
    return codec


def _sample(payload: bytes) -> bytes:
    """Where the text is: from a little before the first byte beyond ASCII, cut where no character can be split."""
    first = _BEYOND_ASCII.search(payload)
    start = max(0, (first.start() if first else 0) - _BEFORE_BYTES)
    sample = payload[start : start + _SAMPLE_BYTES]
    if len(sample) == _SAMPLE_BYTES:
        cut = max(sample.rfind(b"\n"), sample.rfind(b" "))
        sample = sample[:cut] if cut > _SAMPLE_BYTES // 2 else sample
    return sample.translate(None, _CONTROLS)
