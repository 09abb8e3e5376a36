"""Reads numbers with their units, and dates, out of prose, so that two spellings of one quantity compare equal.

Understood: digits of every script, thousands and decimal separators by language, number words in English and German,
scale words, unit aliases, months of eight languages. A digit inside an identifier (``FTS5``, ``UTF-8``) is no number.
What cannot be read is left out, never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from firsthand.evidence.quotes import fold

MAX_DIGITS = 40  # a longer number is compared as written; exact decimals of hostile length cost too much
POINT_LANGUAGES = frozenset(
    ["en", "zh", "ja", "ko", "th", "he", "hi", "ga", "ms"]
)  # decimal point; the others write a comma (CLDR)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it may be meant: ``values`` holds each reading, ``unit`` its dimension (values are in base units)."""

    values: frozenset[Decimal | str]  # a str is a version or a number too long to compute with
    unit: str | None
    written: str
    is_word: bool = False


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it is given; ``readings`` holds (year, month, day), None where it is not said."""

    readings: frozenset[tuple[int | None, int | None, int | None]]
    written: str


@dataclass(frozen=True, slots=True)
class Amounts:
    """What one text says in numbers: quantities, dates, and the dimensions that it names anywhere."""

    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    units: frozenset[str]


@lru_cache(maxsize=512)  # a claim is compared with each of its quotes, sentence by sentence
def read_amounts(text: str, language: str | None = None) -> Amounts:
    """The quantities and dates of *text*, in order. Stretches under a bidi override are skipped: they show otherwise."""
    plain = _ascii_digits(fold(_OVERRIDDEN.sub(" ", text)).text)
    dates: list[Date] = []
    for pattern in _date_patterns(not _MONTHS.keys().isdisjoint(_LETTERS.findall(plain.lower()))):
        plain = pattern.sub(lambda match: _take_date(match, dates, language), plain)
    quantities = [*_digit_quantities(plain, language), *_word_quantities(plain, language)]
    units = {entry[0] for word in _UNIT_WORD.findall(plain) if (entry := _unit(word)) is not None}
    return Amounts(tuple(quantities), tuple(dates), frozenset(units))


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(_ascii_digit(char) if char > "\x7f" else char for char in text)


def _ascii_digit(char: str) -> str:
    value = unicodedata.decimal(char, None)
    if value is not None:
        return str(value)
    return {"٫": ".", "٬": ","}.get(char, char)


# -- Numbers in digits

_OVERRIDDEN = re.compile("[\u202d\u202e][^\u202c]*")
_LETTER = "A-Za-z_\u00c0-\u052f"
# No two neighbouring parts can take the same character, so matching is linear.
_NUMBER = re.compile(
    rf"(?<![{_LETTER}\d])(?P<currency>[$€£¥]\s?)?(?P<sign>(?<![\w)\]]-)(?<![\w)\]])-)?"
    r"(?P<digits>\d{1,3}(?: \d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,']\d+)*)"
)
_SCALE = re.compile(
    r"\s?(?:(thousands?|tausend|mille)|(millions?|millionen|mio|millones|milhões|milioni|million)|"
    r"(billions?|milliarden?|mrd|milliards?|miliardi)|(trillions?)|(千)|([万萬])|([億亿]))(?![A-Za-z])\.?",
    re.IGNORECASE,
)
_SCALES = [10**3, 10**6, 10**9, 10**12, 10**3, 10**4, 10**8]
_AFTER = re.compile(r"[ -]?((?:cubic|square|kubik|quadrat) ?)?([^\W\d_]+[²³23]?|[%‰€$£¥°][CF]?)", re.IGNORECASE)
_UNIT_WORD = re.compile(r"(?:(?:cubic|square) )?[^\W\d_]{2,}[²³]?|[%‰€$£¥]|°[CF]", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|e|er|ème|º|ª)(?![^\W\d_])", re.IGNORECASE)
_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}


def _digit_quantities(text: str, language: str | None) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(text):
        values = _readings(match.group("digits"), language)
        if match.group("sign"):
            values = frozenset(-value if isinstance(value, Decimal) else "-" + value for value in values)
        at, unit = match.end(), None
        scale = _SCALE.match(text, at)
        if scale and scale.lastindex:
            factor = Decimal(_SCALES[scale.lastindex - 1])
            values = _times(values, factor)
            at = scale.end()
        elif text[at : at + 1].isalpha() and _is_identifier(text, at, match.group("digits")):
            continue
        if match.start() >= 2 and re.match(rf"[{_LETTER}]-", text[match.start() - 2 : match.start()]):
            # "UTF-8" is a name, "a 25-metre" is not preceded by a letter and a dash; "pre-2020" stays readable as 2020.
            values = frozenset({f"id:{match.group('digits')}"}) if _is_named(text, match.start()) else values
        if match.group("currency"):
            unit = _CURRENCIES[match.group("currency")[0]]
        else:
            found = _unit_after(text, at)
            if found is not None and not (found[1] and re.fullmatch(r"(?:19|20)\d\ds?", match.group("digits"))):
                unit = found[0][0]
                values = _times(values, found[0][1])
        yield Quantity(values, unit, match.group().strip())


def _times(values: frozenset[Decimal | str], factor: Decimal) -> frozenset[Decimal | str]:
    """Readings in base units. A version has no unit, so only a number too long to compute with stays as written."""
    numbers = frozenset(value * factor for value in values if isinstance(value, Decimal))
    return numbers or values


def _is_named(text: str, at: int) -> bool:
    """Whether the word before "-8" looks like the head of a name: it holds an upper-case letter."""
    word = re.search(r"[^\W_]+-\Z", text[max(0, at - 24) : at])
    return word is not None and word.group() != word.group().lower()


def _is_identifier(text: str, at: int, digits: str) -> bool:
    """Whether letters glued to a number make it a name ("3D", "0x1F") and not a unit, an ordinal or a decade."""
    if _is_wide(text[at]):
        return False
    decade = re.fullmatch(r"\d{3}0", digits) is not None and re.match(r"s(?![^\W\d_])", text[at:]) is not None
    return not decade and _ORDINAL.match(text, at) is None and _unit_after(text, at) is None


def _is_wide(char: str) -> bool:
    return "\u3000" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"


def _unit_after(text: str, at: int) -> tuple[tuple[str, Decimal], bool] | None:
    """The unit that stands at *at* with its factor, and whether it is a lone "s" glued to the number ("1990s")."""
    match = _AFTER.match(text, at)
    if match is None:
        return None
    if _is_wide(text[match.start(2)]):  # no space ends a unit here: the longest that fits
        run = match.group(2)[:6]
        entries = (_unit(run[:n]) for n in range(len(run), 0, -1))
        return next(((entry, False) for entry in entries if entry is not None), None)
    word = (match.group(1) or "").strip().lower()
    entry = _unit(f"{word} {match.group(2)}" if word else match.group(2))
    return None if entry is None else (entry, match.group() == "s")


def _readings(digits: str, language: str | None) -> frozenset[Decimal | str]:
    """Each value that *digits* can mean in *language*; None: in any."""
    if len(digits) > MAX_DIGITS:
        return frozenset({digits})
    text = digits.replace(" ", "").replace("'", "")
    commas, points = text.count(","), text.count(".")
    if commas and points:
        decimal = max(",.", key=text.rfind)
        thousands = "," if decimal == "." else "."
        return (
            frozenset({Decimal(text.replace(thousands, "").replace(decimal, "."))})
            if text.count(decimal) == 1
            else frozenset({text})
        )
    if not commas and not points:
        return frozenset({Decimal(text)})
    mark = "," if commas else "."
    groups = text.split(mark)
    grouped = len(groups[0]) <= 3 and groups[0] != "0" and len(groups[-1]) == 3
    if commas + points > 1:
        if grouped and all(len(group) in (2, 3) for group in groups[1:]):
            return frozenset({Decimal("".join(groups))})
        # A version is also borne by a longer one: 3.32.0 tells of 3.32.
        return frozenset({text, mark.join(groups[:-1])})
    as_decimal = Decimal(f"{groups[0]}.{groups[1]}")
    if not grouped:
        return frozenset({as_decimal, text}) if mark == "." else frozenset({as_decimal})
    as_whole = Decimal("".join(groups))
    if language is None:
        return frozenset({as_decimal, as_whole})
    return frozenset({as_decimal if (mark == ".") == (language in POINT_LANGUAGES) else as_whole})


# -- Numbers in words

_EN_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DE_ONES = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


@lru_cache(maxsize=2)
def _number_words(language: str) -> tuple[dict[str, int], re.Pattern[str]]:
    """The number words of a language below 100 with their values, and a pattern for a run of them."""
    ones, tens = (_DE_ONES, _DE_TENS) if language == "de" else (_EN_ONES, _EN_TENS)
    words = {word: n for n, word in enumerate(ones.split())}
    for n, ten in enumerate(tens.split(), 2):
        words[ten] = n * 10
        for one in range(1, 10):
            name = ones.split()[one]
            words[
                f"{name.removesuffix('s') if one == 1 else name}und{ten}" if language == "de" else f"{ten}-{name}"
            ] = n * 10 + one
    scales = "hundert|tausend" if language == "de" else "hundred|thousand|million|billion"
    names = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    part = rf"(?:{names}|{scales})"
    return words, re.compile(
        rf"(?<![^\W_])(?<!\d[ -])(?:{names})(?![^\W_])(?:[ -](?:and )?{part}(?![^\W_]))*", re.IGNORECASE
    )


def _word_quantities(text: str, language: str | None) -> Iterator[Quantity]:
    words, pattern = _number_words("de" if language == "de" else "en")
    scales = {"hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000, "million": 10**6, "billion": 10**9}
    for match in pattern.finditer(text):
        total = current = 0
        for word in re.findall(r"[^\W_]+(?:-[^\W_]+)?", match.group().lower()):
            pieces = [word] if word in words else word.split("-")
            for piece in pieces:
                if piece in words:
                    current += words[piece]
                elif piece == "hundred" or piece == "hundert":
                    current = (current or 1) * 100
                elif piece in scales:
                    total, current = total + (current or 1) * scales[piece], 0
        value = Decimal(total + current)
        found = _unit_after(text, match.end())
        unit = found[0] if found is not None else None
        yield Quantity(
            frozenset({value * unit[1] if unit else value}), unit[0] if unit else None, match.group(), is_word=True
        )


# -- Units

_ALIASES = """
length 0.001 mm millimetre millimetres millimeter millimeters
length 0.01 cm centimetre centimetres centimeter centimeters zentimeter
length 1 m metre metres meter meters mètre mètres metro metros メートル 米
length 1000 km kilometre kilometres kilometer kilometers kilomètre kilomètres kilómetros キロメートル 公里
length 1609.344 mile miles meile meilen
length 0.3048 ft foot feet fuß
length 0.0254 inch inches zoll
area 1 m² m2 square_metre square_metres square_meter square_meters quadratmeter
area 1000000 km² km2 square_kilometre square_kilometres square_kilometer square_kilometers quadratkilometer
area 10000 ha hectare hectares hektar
volume 1 m³ m3 cubic_metre cubic_metres cubic_meter cubic_meters kubikmeter
volume 1000000000 km³ km3 cubic_kilometre cubic_kilometres cubic_kilometer cubic_kilometers kubikkilometer
volume 0.001 l litre litres liter liters
mass 0.001 g gram grams gramm
mass 1 kg kilogram kilograms kilogramm kilo kilos
mass 1000 t tonne tonnes tonnen
time 0.000001 µs μs us microsecond microseconds
time 0.001 ms millisecond milliseconds millisekunde millisekunden ミリ秒 毫秒
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒
time 60 min mins minute minutes minuten minuto minutos 分 分钟
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas 時間 小时
time 86400 day days tag tage tagen jour jours día días 日間 天
time 604800 week weeks woche wochen semaine semaines semana semanas 週間
year 1 year years jahr jahre jahren an ans année années año años 年間
bytes 1 byte bytes bytes octet octets バイト 字节
bytes 1000 kB KB kilobyte kilobytes
bytes 1000000 MB megabyte megabytes
bytes 1000000000 GB gigabyte gigabytes
bytes 1000000000000 TB terabyte terabytes
bytes 1024 KiB kibibyte kibibytes
bytes 1048576 MiB mebibyte mebibytes
bytes 1073741824 GiB gibibyte gibibytes
bytes 1099511627776 TiB tebibyte tebibytes
bits 1 bit bits ビット
percent 1 % percent prozent pourcent パーセント
permille 1 ‰
usd 1 $ USD dollar dollars
eur 1 € EUR euro euros
gbp 1 £ GBP
jpy 1 ¥ JPY yen 円
celsius 1 °C celsius
fahrenheit 1 °F fahrenheit
kelvin 1 K kelvin
watt 1 W watt watts
watt 1000 kW kilowatt kilowatts
watt 1000000 MW megawatt megawatts
hertz 1 Hz hertz
hertz 1000000 MHz megahertz
hertz 1000000000 GHz gigahertz
"""


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[str, Decimal]]:
    table: dict[str, tuple[str, Decimal]] = {}
    for line in _ALIASES.strip().splitlines():
        dimension, factor, *aliases = line.split()
        table |= {alias.replace("_", " "): (dimension, Decimal(factor)) for alias in aliases}
    return table


def _unit(word: str) -> tuple[str, Decimal] | None:
    """The dimension and factor of a unit as written. Short symbols keep their case: MB is not Mb."""
    table = _units()
    if word in table:
        return table[word]
    lower = word.lower()
    return table.get(lower) if len(lower) > 3 else None


# -- Dates

_MONTHS = {
    name: n
    for line in """
    january february march april may june july august september october november december
    jan feb mar apr may jun jul aug sep oct nov dec
    januar februar märz april mai juni juli august september oktober november dezember
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    januari februari maart april mei juni juli augustus september oktober november december
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    """.strip().splitlines()
    for n, name in enumerate(line.split(), 1)
}
_LETTERS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=2)
def _date_patterns(names_month: bool) -> tuple[re.Pattern[str], ...]:
    """The ways to write a date, in the order in which they are taken.

    Those with a month's name take 40 ms to compile, a twentieth of what a command-line answer may cost, so they are made
    for a text that names one.
    """
    month = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?![^\W_])\.?"
    day = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|\.|º)?"
    year = r"(?P<year>[12]\d{3})(?!\d)"
    patterns = [
        r"(?<![\d.-])(?P<year>[12]\d{3})-(?P<month>[01]\d)-(?P<day>[0-3]\d)(?!\d)",
        r"(?P<year>[12]\d{3}) ?年 ?(?P<month>[01]?\d) ?月(?: ?(?P<day>[0-3]?\d) ?日)?",
        r"(?<![\d.])(?P<one>[0-3]?\d)(?P<mark>[./])(?P<two>[0-3]?\d)(?P=mark)(?P<year>[12]\d{3})(?![\d.])",
    ]
    if names_month:
        patterns += [
            rf"(?<!\w){day}(?: of| de)? {month},?(?: de| of)? {year}",
            rf"(?<!\w){month} {day},? {year}",
            rf"(?<!\w){month},?(?: de| of)? {year}",
            rf"(?<!\w){day}(?: of| de)? {month}",
            rf"(?<!\w){month} {day}(?![\d.])",
        ]
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def _take_date(match: re.Match[str], dates: list[Date], language: str | None) -> str:
    """Add the date that *match* found to *dates*; what is left of it in the text is blank, or itself if it is none."""
    parts = match.groupdict()
    readings: set[tuple[int | None, int | None, int | None]]
    year = int(parts["year"]) if parts.get("year") else None
    if "one" in parts:
        one, two = int(parts["one"]), int(parts["two"])
        orders = {(two, one)} if parts["mark"] == "." else {(one, two), (two, one)}
        readings = {(year, month, day) for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31}
    else:
        word = parts["month"]
        month = int(word) if word.isdigit() else _MONTHS[word.lower()]
        day = int(parts["day"]) if parts.get("day") else None
        if not word.isdigit() and word.islower() and language in (None, "en"):
            return match.group()  # "may 20 users": English months have a capital
        readings = {(year, month, day)} if 1 <= month <= 12 and (day is None or 1 <= day <= 31) else set()
    if not readings:
        return match.group()
    dates.append(Date(frozenset(readings), match.group()))
    return " "
