"""What a question asks: language, kinds, names, weights, parts, sites, and when it is asked back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.evidence.terms import is_term
from firsthand.ports import Site
from firsthand.research import lexicon
from firsthand.research.grouping import IDENTIFIER_WEIGHT, SITE_WEIGHT, Group
from firsthand.research.plan import (
    Plan,
    hints_of,
    lookups,
    make_plan,
    needed_terms,
    question_language,
    unknown_terms,
)

GIT = Site("http://a.example/git/", ("git",), 40, ("en",))
PYTHON = Site("http://a.example/python/", ("python",), 40, ("en",))
HANDBOOK = Site("http://a.example/handbook/", ("handbook",), 40, ("de", "fr"))


def planned(question: str, *sites: Site, absent: str = "", common: str = "") -> Plan:
    """The plan in an index of 10,000 passages where each term stands in 50, but *absent* in none, *common* in 3,000."""
    terms = needed_terms(question, sites)
    counts = {term: 0 if term in absent.split() else 3_000 if term in common.split() else 50 for term in terms}
    return make_plan(question, (10_000, counts), sites)


def group(plan: Plan, word: str) -> Group:
    return next(each for each in plan.groups if each.word == word)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How do I revert a commit?", "en"),
        ("Wie lösche ich einen Zweig?", "de"),
        ("Comment supprimer une branche ?", "fr"),
        ("¿Cómo se borra una rama?", "es"),
        ("Come si cancella un ramo?", "it"),
        ("Como é que apago um ramo?", "pt"),
        ("Как удалить ветку?", "ru"),
        ("ブランチを削除するにはどうすればよいですか。", "ja"),
        ("如何删除分支？", "zh"),
        ("브랜치를 어떻게 삭제하나요?", "ko"),
        ("Bir dal nasıl kaldırılır?", "tr"),
    ],
)
def test_the_language_is_told_and_an_english_page_can_be_found(question: str, language: str) -> None:
    assert question_language(question) == language
    if language != "en":
        assert {"delet", "remov"} & set(needed_terms(question, [GIT]))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many commits fit in a pack?", "number"),
        ("Wie viele Zeilen hat die Datei?", "number"),
        ("What is the timeout by default?", "default"),
        ("How do I undo a merge?", "howto"),
        ("Which merge strategies are available?", "list"),
        ("How do rebase and merge differ?", "compare"),
        ("Can git track empty directories?", "yesno"),
        ("Why does push fail?", "why"),
        ("When was tomllib added?", "date"),
        ("默认的超时时间是多少？", "number"),
        ("既定のポートはどこで設定しますか。", "where"),
    ],
)
def test_the_kind_of_question_is_told(question: str, kind: str) -> None:
    assert kind in planned(question).kinds


def test_stop_words_are_left_out_and_rare_words_weigh_more() -> None:
    plan = planned("What is the packfile of a repository?", common="repositori")
    assert [each.word for each in plan.groups] == ["packfile", "repository"]
    assert group(plan, "packfile").weight > group(plan, "repository").weight


def test_an_identifier_is_one_name_and_weighs_more_than_a_word() -> None:
    plan = planned("Does gc.autoDetach matter for maintenance?")
    identifier, word = group(plan, "gc.autoDetach"), group(plan, "maintenance")
    assert identifier.is_name and identifier.terms[0] == "gcautodetach"
    assert identifier.weight == pytest.approx(IDENTIFIER_WEIGHT * word.weight, rel=0.01)


def test_names_are_capitals_quotes_and_versions_but_not_german_nouns() -> None:
    assert {each.word for each in planned("Does Rust 1.76 print 'broken pipe' on the BSD?").names} == {
        "Rust",
        "1.76",
        "broken",
        "pipe",
        "BSD",
    }
    assert not planned("Warum ist der Speicher der Maschine so klein?").names


def test_the_name_of_a_site_weighs_little_and_restricts_the_look_up() -> None:
    plan = planned("How does Git store trees?", GIT, PYTHON)
    assert plan.sites == (GIT.site,)
    assert group(plan, "Git").is_site
    assert group(plan, "Git").weight == pytest.approx(SITE_WEIGHT * group(plan, "trees").weight, rel=0.01)
    assert {look.site for look in lookups(plan)} == {GIT.site, None}


def test_a_question_is_translated_for_sites_that_have_nothing_in_its_language() -> None:
    assert "loschen" in needed_terms("How do I delete the index?", [HANDBOOK]) or "losch" in needed_terms(
        "How do I delete the index?", [HANDBOOK]
    )
    assert not {"losch", "loschen"} & set(needed_terms("How do I delete the index?", [GIT]))


def test_two_questions_in_one_are_split_and_the_second_keeps_the_names() -> None:
    plan = planned("Which option of tar_backup prunes archives, and how long are they kept by default?")
    assert [part.question.split()[0] for part in plan.parts] == ["Which", "how"]
    assert any(each.word == "tar_backup" for each in plan.parts[1].groups)


def test_a_comparison_of_two_sites_becomes_a_question_for_each() -> None:
    plan = planned("How do Git and Python differ in the length of names?", GIT, PYTHON)
    assert [part.sites for part in plan.parts] == [(GIT.site,), (PYTHON.site,)]
    assert not any(each.is_site for part in plan.parts for each in part.groups)


@pytest.mark.parametrize(
    "question", ["Is it faster than the old one?", "Warum geht das nicht mehr?", "What is the default value?"]
)
def test_a_question_without_a_subject_is_asked_back_in_its_language(question: str) -> None:
    plan = planned(question, common="default valu faster old perform")
    assert plan.clarification == lexicon.say("clarify", question_language(question))


def test_a_rare_word_or_a_name_is_subject_enough() -> None:
    assert planned("What is rebasing?").clarification is None
    assert planned("What is it in PostgreSQL?").clarification is None


def test_a_word_that_no_passage_holds_may_be_a_slip_but_a_name_may_not() -> None:
    question = "How do I conifgure the JSONB reader?"
    rarity = (10_000, dict.fromkeys(needed_terms(question, []), 0) | {"reader": 20, "configur": 20})
    unknown = unknown_terms(question, [], rarity)
    assert "jsonb" not in unknown and len(unknown) == 1
    plan = make_plan(question, rarity, [], {unknown[0]: ["configur"]})
    assert "configur" in group(plan, "conifgure").soft


def test_a_compound_that_no_passage_holds_is_read_as_its_halves() -> None:
    question = "Wo steht die Rechnungsnummer?"
    counts = dict.fromkeys(needed_terms(question, []), 0) | {"rechnung": 20, "numm": 30, "steht": 40}
    plan = make_plan(question, (10_000, counts), [])
    assert {"rechnung", "numm"} <= {term for each in plan.groups for term in each.terms}


def test_look_ups_stay_within_a_budget_of_matches() -> None:
    question = "How do I " + " ".join(f"w{n}rd" for n in range(30)) + "?"
    terms = needed_terms(question, [])
    plan = make_plan(question, (10_000, dict.fromkeys(terms, 900)), [])
    for look in lookups(plan):
        if look.of == "passages":
            assert len(look.groups) * 900 <= 6_000


@given(st.text(max_size=300))
def test_any_text_makes_a_plan_whose_terms_are_index_terms(question: str) -> None:
    plan = planned(question, GIT, HANDBOOK)
    assert all(is_term(term) for each in lookups(plan) for group_ in each.groups for term in group_)
    assert all(each.weight >= 0 for each in plan.groups)


def test_every_language_has_every_sentence_and_every_glossary_row_every_column() -> None:
    keys = (
        "clarify",
        "missing_name",
        "missing_answer",
        "no_evidence",
        "by_rule",
        "quotes_language",
        "one_site",
        "conflict",
        "follow_up",
        "address_unread",
        "address_silent",
    )
    facts = {"name": "N", "question": "Q", "languages": "L", "site": "S", "values": "V", "topic": "T", "url": "U"}
    for key in keys:
        assert len({lexicon.say(key, language, **facts) for language in lexicon.LANGUAGES}) == len(lexicon.LANGUAGES)
    assert all(len(row) == len(lexicon.LANGUAGES) for row in lexicon._glossary())


@pytest.mark.parametrize(
    "question",
    ["What is the default page size?", "How does it handle locking?", "Wie groß ist eine Seite?", "¿Qué es un índice?"],
)
def test_a_question_with_a_subject_is_not_asked_back_however_common_its_words(question: str) -> None:
    common = dict.fromkeys(needed_terms(question, ()), 900)
    assert make_plan(question, (1_000, common), ()).clarification is None


@pytest.mark.parametrize(
    "question",
    ["How do I make it faster?", "Wie kann ich das rückgängig machen?", "¿Por qué no funciona?", "Почему не работает?"],
)
def test_a_question_that_names_no_subject_is_asked_back_in_its_language(question: str) -> None:
    plan = make_plan(question, (1_000, {}), ())
    assert plan.clarification == lexicon.say("clarify", plan.language)


@pytest.mark.parametrize(
    ("question", "bare", "hints"),
    [
        ("What do people say about Zig? @reddit", "What do people say about Zig?", ("reddit",)),
        ("@GitHub @news how fast is Zig @github", "how fast is Zig", ("github", "news")),
        ("How fast is Zig @academic?", "How fast is Zig?", ("academic",)),
        ("@web How fast is Zig", "How fast is Zig", ("web",)),
        ("Zig, @x, and more", "Zig,, and more", ("x",)),
        ("What does @github/actions do for me@x.com and `@x`, @media and @newsroom?", None, ()),
        ("Why is the space   kept when nothing is a hint?", None, ()),
        ("@news", "@news", ("news",)),
    ],
)
def test_hints_are_read_from_a_question_and_left_out_of_it(
    question: str, bare: str | None, hints: tuple[str, ...]
) -> None:
    assert hints_of(question) == (question if bare is None else bare, hints)
