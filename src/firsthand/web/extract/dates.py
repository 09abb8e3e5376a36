"""Dates as pages write them: for machines, in words of several languages, in addresses; always one plausible day.

A date that two readers could read as different days is no date here: ``3/4/2024`` is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

Said = Literal["published", "modified", ""]

_DATE = r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?)\s?(Z|[+-]\d{2}:?\d{2})?)?"
_COMPACT_DATE = r"(\d{4})(\d{2})(\d{2})(?:T|$)"
_IN_PATH = r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?:[/_-]|$)"
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# The names of months, January first; forms that differ by case or by an ending stand side by side.
_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari stycznia styczeń ocak января янв січня",
    "february feb februar februari février févr fév febrero febbraio fevereiro fev lutego luty şubat şub февраля фев лютого",
    "march mar märz mär mars marzo março maart mrt marca marzec mart марта мар березня",
    "april apr avril avr abril abr aprile kwietnia kwiecień nisan nis апреля апр квітня",
    "may mai mayo maggio mag maio mei maj maja mayıs мая май травня",
    "june jun juni juin junio giugno giu junho czerwca czerwiec haziran haz июня июн червня",
    "july jul juli juillet juil julio luglio lug julho lipca lipiec temmuz tem июля июл липня",
    "august aug août agosto ago augustus augusti sierpnia sierpień ağustos ağu августа авг серпня",
    "september sept sep septembre septiembre settembre set setembro września wrzesień eylül eyl сентября сен сент вересня",
    "october oct oktober okt octobre octubre ottobre ott outubro out oktober października październik ekim eki октября окт жовтня",
    "november nov novembre noviembre novembro listopada listopad kasım kas ноября ноя листопада",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember des grudnia grudzień aralık ara декабря дек грудня",
)  # fmt: skip
MONTHS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
# A word is at most 12 letters and nothing repeats within a repetition: the patterns are linear in a block's length.
_IN_WORDS = (
    r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?,?[ -]?(?:(?:de|of) )?(?P<month>[^\W\d_]{3,12})[.,]{0,2}[ -](?:del? )?(?P<year>\d{4})(?!\d)"
    r"|(?<![^\W\d_])(?P<month_first>[^\W\d_]{3,12})\.? (?P<day_second>\d{1,2})(?:st|nd|rd|th)?(?:, ?|\.? )(?P<year_last>\d{4})(?!\d)"
    r"|(?P<year_first>\d{4}) ?[年년] ?(?P<month_number>\d{1,2}) ?[月월] ?(?P<day_last>\d{1,2}) ?[日일]"
    r"|(?<![\w.])(?P<day_dotted>\d{1,2})\.(?P<month_dotted>\d{1,2})\.(?P<year_dotted>\d{4})(?![\d.])"
    r"|(?<![\d/.-])(?P<iso>\d{4}(?P<sep>[-/.])\d{1,2}(?P=sep)\d{1,2})(?![\d/-])"
    r"|(?<![\d/])(?P<one>\d{1,2})/(?P<other>\d{1,2})/(?P<year_slashed>\d{4})(?![\d/])"
)  # fmt: skip
_MODIFIED_WORDS = (
    r"(?<![a-z])(?:updated?|modified|revised|edited|reviewed|changed|refreshed|aktualisiert|stand|geändert|bearbeitet|mise? à jour|modifiée? le|actualizad[oa]|"
    r"actualización|modificad[oa]|aggiornat[oa]|aggiornamento|modifica|atualizad[oa]|atualização|bijgewerkt|gewijzigd|"
    r"uppdaterad|opdateret|oppdatert|zaktualizowano|aktualizacja|güncelle\w{0,6}|обновлено|изменено|оновлено|"
    r"更新|修改|最終更新|수정|업데이트)"
)
_PUBLISHED_WORDS = (
    r"(?<![a-z])(?:publi(?:shed|cation|cado|cada|é|ée|cato|cata|ziert)|posted|submitted|started|start date|"
    r"veröffentlicht|erschienen|erstellt|creado|creato|gepubliceerd|geplaatst|publicerad|udgivet|publisert|opublikowano|"
    r"yayınla\w{0,6}|опубликовано|опубліковано|发布|發布|發表|公開|掲載|投稿|게시|등록|입력)"
)


class Dated(NamedTuple):
    """A day in a text, as ISO 8601, what the words before it say of it, and where it stands."""

    day: str
    said: Said
    start: int
    end: int


def iso_date(value: str) -> str | None:
    """*value* as ISO 8601, date or date and time, if it holds a plausible one."""
    value = value.strip()[:100]
    found = re.search(_DATE, value)
    if not found:
        compact = re.match(_COMPACT_DATE, value)
        return _day(compact[1], compact[2], compact[3]) if compact else None
    date = _day(found[1], found[2], found[3])
    return f"{date}T{found[4]}{found[5] or ''}" if date and found[4] else date


def any_date(value: str) -> str | None:
    """*value* as ISO 8601, written for machines or in words."""
    return iso_date(value) or next((found.day for found in dates_in(value[:200])), None)


def path_date(path: str) -> str | None:
    """The day in the path of an address such as ``/2024/03/14/name``."""
    found = re.search(_IN_PATH, path[:2000])
    return _day(found[1], found[2], found[3]) if found else None


def dates_in(text: str, *, is_day_first: bool = False) -> Iterator[Dated]:
    """The dates that *text* holds, in order, with what the words since the one before say of each.

    *is_day_first*: 3/4/2024 is the third of April where the text comes from; otherwise it is no date.
    """
    if "20" not in text and "19" not in text:  # no year: most blocks cost no more than this
        return
    last = 0
    for found in _in_words().finditer(text):
        day = _found_day(found, is_day_first)
        if day is None:
            continue
        before = text[max(last, found.start() - 40) : found.start()]
        last = found.end()
        yield Dated(day, _said(before, text[found.end() : found.end() + 12]), found.start(), found.end())


@cache
def _in_words() -> re.Pattern[str]:
    return re.compile(_IN_WORDS)


def _said(before: str, after: str) -> Said:
    """What the words round a date say of it; the nearest wins."""
    modified = [found.start() for found in re.finditer(_MODIFIED_WORDS, before, re.IGNORECASE)]
    published = [found.start() for found in re.finditer(_PUBLISHED_WORDS, before, re.IGNORECASE)]
    if modified or published:
        return "modified" if max(modified, default=-1) > max(published, default=-1) else "published"
    if (
        re.match(_MODIFIED_WORDS, after.lstrip(" (")) and not after.isascii()
    ):  # Chinese, Japanese, Korean: the word follows
        return "modified"
    return ""


def _found_day(found: re.Match[str], is_day_first: bool) -> str | None:
    if found["iso"]:
        return iso_date(found["iso"])
    if found["year_first"]:
        return _day(found["year_first"], found["month_number"], found["day_last"])
    if found["day_dotted"]:
        return _day(found["year_dotted"], found["month_dotted"], found["day_dotted"])
    if found["year_slashed"]:
        one, other = int(found["one"]), int(found["other"])
        if one > 12 >= other or (is_day_first and one <= 12 >= other):
            return _day(found["year_slashed"], other, one)
        if other > 12 >= one or one == other:
            return _day(found["year_slashed"], one, other)
        return None
    name = (found["month"] or found["month_first"]).lower()
    month = MONTHS.get(name)
    if month is None:
        return None
    return _day(found["year"] or found["year_last"], month, found["day"] or found["day_second"])


def _day(year: str | int, month: str | int, day: str | int) -> str | None:
    year, month, day = int(year), int(month), int(day)
    if not (1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]):
        return None
    return f"{year:04d}-{month:02d}-{day:02d}"
