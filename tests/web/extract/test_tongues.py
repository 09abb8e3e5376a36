"""The language of a page."""

from __future__ import annotations

import pytest

from firsthand.web.extract.tongues import choose_language, guess_by_words

WORDS = {
    "en": "The tide comes in twice a day and it is higher when the moon is full, as the fishermen of this coast have known.",
    "de": "Das Wasser kommt zweimal am Tag und ist höher, wenn der Mond voll ist, wie die Fischer der Küste wissen.",
    "fr": "La mer monte deux fois par jour et elle est plus haute quand la lune est pleine, ce que les pêcheurs savent.",
    "es": "El agua sube dos veces al día y es más alta cuando la luna está llena, como los pescadores de la costa saben.",
    "it": "La marea sale due volte al giorno ed è più alta quando la luna è piena, come i pescatori della costa sanno.",
    "pt": "A água sobe duas vezes por dia e é mais alta quando a lua está cheia, como os pescadores da costa não esquecem.",
    "nl": "Het water komt twee keer per dag op en is hoger als de maan vol is, zoals de vissers van de kust weten.",
    "sv": "Vattnet stiger två gånger om dagen och är högre när månen är full, som de som bor på kusten vet att det är.",
    "da": "Vandet stiger to gange om dagen og er højere når månen er fuld, som de der bor ved kysten ved at det er.",
    "pl": "Woda podnosi się dwa razy na dobę i jest wyższa, gdy księżyc jest w pełni, o czym rybacy z wybrzeża wiedzą.",
    "tr": "Su günde iki kez yükselir ve ay dolunay olduğunda daha yüksek olur, bu kıyının balıkçıları için çok eski bir bilgidir.",
    "ru": "Вода поднимается дважды в сутки и стоит выше в полнолуние, что рыбаки этого берега знают давно.",
    "uk": "Вода підіймається двічі на добу і стоїть вище в повню, що рибалки цього берега знають давно.",
    "el": "Το νερό ανεβαίνει δύο φορές την ημέρα και είναι ψηλότερα όταν το φεγγάρι είναι γεμάτο.",
    "ja": "潮は一日に二度満ち、満月のときにはさらに高くなることを、この海岸の漁師たちは昔から知っている。",
    "zh": "潮水每天涨两次，满月时更高，这片海岸的渔民很早以前就知道这一点，并且按照它来安排出海的时间和归来的时间。",
    "ko": "물은 하루에 두 번 차오르고 보름달이 뜨면 더 높아진다는 것을 이 해안의 어부들은 오래전부터 알고 있다.",
    "ar": "يرتفع الماء مرتين في اليوم ويكون أعلى عندما يكون القمر بدرا كما يعرف صيادو هذا الساحل منذ زمن بعيد",
    "fa": "آب روزی دو بار بالا می‌آید و وقتی ماه کامل است بلندتر می‌شود و ماهیگیران این ساحل آن را می‌دانند، چه خوب",
    "he": "המים עולים פעמיים ביום והם גבוהים יותר כשהירח מלא, כפי שהדייגים של החוף הזה יודעים מזמן",
    "hi": "पानी दिन में दो बार चढ़ता है और पूर्णिमा के समय और ऊँचा होता है, यह इस तट के मछुआरे जानते हैं।",
    "th": "น้ำขึ้นวันละสองครั้งและสูงขึ้นเมื่อพระจันทร์เต็มดวงตามที่ชาวประมงของชายฝั่งนี้รู้กันมานานแล้ว",
}


@pytest.mark.parametrize("language", WORDS)
def test_where_nothing_is_declared_letters_or_words_tell(language: str) -> None:
    found = choose_language([], [("paragraph", WORDS[language])])
    assert found is not None
    assert found[0] == language


@pytest.mark.parametrize(("declared", "language"), [("en-GB", "en"), ("DE", "de"), ("zh_Hans", "zh")])
def test_a_declared_language_is_two_letters(declared: str, language: str) -> None:
    assert choose_language([("", "html lang"), (declared, "meta")], []) == (language, "meta")


def test_what_is_no_code_is_no_declaration() -> None:
    assert choose_language([("english", "html lang"), ("und", "html lang")], []) is None


@pytest.mark.parametrize("language", ["ja", "ru", "ar", "el", "th", "ko"])
def test_a_script_overrules_a_declaration_it_contradicts(language: str) -> None:
    assert choose_language([("en", "html lang")], [("paragraph", WORDS[language])]) == (language, "letters")


def test_words_do_not_overrule_a_declaration_nor_does_a_script_it_is_written_in() -> None:
    assert choose_language([("sv", "html lang")], [("paragraph", WORDS["de"])]) == ("sv", "html lang")
    assert choose_language([("bg", "html lang")], [("paragraph", WORDS["ru"])]) == ("bg", "html lang")
    assert choose_language([("zh", "html lang")], [("paragraph", WORDS["zh"])]) == ("zh", "html lang")


@pytest.mark.parametrize("text", ["", "x = f(y); return z", "Kraków Wien Berlin 2024", "OK"])
def test_names_and_code_are_no_language(text: str) -> None:
    assert guess_by_words(text) is None
