"""The language of a page: what it declares, unless its letters plainly say otherwise; a guess where it declares none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

_CODE = r"[a-z]{2}(?:[-_]|$)"
_WORD = r"[^\W\d_]+"
_SAMPLE_CHARS = 2_500  # some 400 words: as good as all of them for languages this far apart (guess)
_SCRIPT_CHARS = 600  # show a script
_PLAINLY = 0.5  # of the letters, in a script that the declared language is never written in
_LEAST_LETTERS = 40
_LEAST_WORDS = 4  # stop words of the best language, and this share of all words ...
_LEAST_SHARE = 0.08

# A script, its letters, and the languages that are written in it; the first is the guess.
_SCRIPTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("\u3041-\u30ff", ("ja",)),
    ("\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3", ("ko",)),
    ("\u3400-\u4dbf\u4e00-\u9fff", ("zh", "ja", "ko")),
    ("\u0400-\u04ff", ("ru", "uk", "bg", "sr", "be", "mk", "kk", "ky", "mn", "tg")),
    ("\u0620-\u06d3", ("ar", "fa", "ur", "ps", "ckb", "ku", "ug", "sd")),
    ("\u05d0-\u05ea", ("he", "iw", "yi")),
    ("\u0370-\u03ff", ("el",)),
    ("\u0904-\u0939", ("hi", "ne", "mr", "sa")),
    ("\u0e01-\u0e4e", ("th",)),
    ("\u0530-\u058f", ("hy",)),
    ("\u0b85-\u0bb9", ("ta",)),
)
_OTHER = "[\u0370-\u1fff\u3041-\ud7a3]"  # letters that are not Latin, most of them
# The commonest words that carry no subject, of languages in Latin letters; enough to tell them apart, no more.
_STOP_WORDS = {
    "en": "the of and to is that for it with as was on be by this are from or have an not you which at",
    "de": "der die und das den von zu ist mit sich des auf für nicht ein eine als auch dem wird werden oder bei",
    "fr": "le la les et des en un une du que est dans pour qui sur pas au par plus avec ce sont cette",
    "es": "de la que el en y los del las un por con una para es se su al lo como más pero sus",
    "it": "di e che la il un per è in del non una della con i le da si dei nel alla sono gli anche",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como foi ao são",
    "nl": "de het een van en in is dat op te zijn voor met niet aan er die ook als bij wordt naar",
    "sv": "och att det som en på är av för med den till inte har de ett om var jag från eller kan",
    "da": "og det at en den til er som på de med for ikke der et har af var fra men eller kan",
    "pl": "i w na z się nie do to że jest o jak ale po dla od przez są oraz tym jego który",
    "tr": "ve bir bu da de için ile çok daha olarak olan gibi ne kadar var sonra en her ama değil",
}
_TELLING = {"de": "ßäöü", "fr": "çœêèàù", "es": "ñ¿¡", "pt": "ãõ", "tr": "ışğİ", "pl": "łąęśćń", "sv": "å", "da": "øæ", "it": "òì"}  # fmt: skip
_UKRAINIAN, _RUSSIAN, _PERSIAN = "[іїєґ]", "[ыэё]", "[پچژگ]"


def choose_language(declared: Iterable[tuple[str, str]], blocks: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Two letters, and what says so: the first language that is *declared*, with its source, or the letters and words.

    A declaration is overruled only by a script: Japanese is not English, whatever the page says.
    """
    said = next(
        ((code[:2], source) for value, source in declared if re.match(_CODE, code := value.strip().lower())), None
    )
    sample = _sample(blocks, _SAMPLE_CHARS if said is None else _SCRIPT_CHARS)
    script = _by_script(sample)
    if said is not None:
        return (script[0], "letters") if script and said[0] not in script[1] else said
    if script:
        return script[0], "letters"
    guess = guess_by_words(sample)
    return (guess, "words") if guess else None


def guess_by_words(sample: str) -> str | None:
    """The language in Latin letters whose commonest words *sample* holds most of; None if it does not show clearly."""
    words = Counter(re.findall(_WORD, sample.lower()))
    votes: dict[str, float] = dict.fromkeys(_STOP_WORDS, 0.0)
    known = _languages_of_words()
    for word, n in words.items():
        languages = known.get(word, ())
        for language in languages:
            votes[language] += n / len(languages)
    if not sample.isascii():
        for language, letters in _TELLING.items():
            votes[language] += sum(sample.count(letter) for letter in letters) / 2
    best, second = sorted(votes, key=lambda language: votes[language], reverse=True)[:2]
    if votes[best] < max(_LEAST_WORDS, _LEAST_SHARE * words.total()) or votes[best] < 1.3 * votes[second]:
        return None
    return best


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in _STOP_WORDS.items():
        for word in words.split():
            languages[word] = (*languages.get(word, ()), language)
    return languages


def _by_script(sample: str) -> tuple[str, tuple[str, ...]] | None:
    """The likeliest language of a script that most letters of *sample* stand in, with all that are written in it."""
    if sample.isascii() or len(re.findall(_OTHER, sample)) < _LEAST_LETTERS:
        return None
    n_letters = sum(map(str.isalpha, sample))
    shares = [len(re.findall(f"[{letters}]", sample)) / n_letters for letters, _ in _SCRIPTS]
    kana, hangul, han = shares[:3]
    if kana + han >= _PLAINLY and kana > 0.05:
        return "ja", ("ja",)
    if hangul + han >= _PLAINLY and hangul > 0.1:
        return "ko", ("ko",)
    for share, (_, languages) in zip(shares[2:], _SCRIPTS[2:], strict=True):
        if share >= _PLAINLY:
            return _in_script(languages, sample), languages
    return None


def _in_script(languages: tuple[str, ...], sample: str) -> str:
    if languages[0] == "ru":
        return "uk" if re.search(_UKRAINIAN, sample) and not re.search(_RUSSIAN, sample) else "ru"
    if languages[0] == "ar":
        return "fa" if re.search(_PERSIAN, sample) else "ar"
    return languages[0]


def _sample(blocks: Sequence[tuple[str, str]], n_most: int) -> str:
    """Some *n_most* characters of *blocks*, of the long ones first: menus and names say little of a language."""
    parts: list[str] = []
    n_chars = 0
    for is_long in (True, False):
        for _, text in blocks:
            if (len(text) >= 80) is is_long:
                parts.append(text[:500])
                n_chars += len(parts[-1])
                if n_chars >= n_most:
                    return " ".join(parts)
        if n_chars >= n_most // 4:
            break
    return " ".join(parts)
