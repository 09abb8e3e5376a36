"""What Firsthand owes, row by row, and the test that shows it; what this release does not owe yet, and why.

``python -m tests.promises`` runs every test that is named here and prints the figures on its last line.

Ids are those of the specifications: P of the trust page, U of inputs that users of such tools complained of, A of the
reference's acceptance cases, N of those it lacks.
``test_promises.py`` fails if either side is missing. A test named ``test_a06_…`` must stand at A06.
"""

from __future__ import annotations

import sys

from tests.promise import Promise, later, owed, rows_of
from tests.promises_of_web_qa import LACKING, REFERENCE

MODEL = "comes with the model loop"
ACCEPTANCE = "tests/acceptance/"
TRUST = f"{ACCEPTANCE}test_trust.py::"
SEARCHING = f"{ACCEPTANCE}test_searching.py::"
BYTES = f"{ACCEPTANCE}test_bytes.py::"
GATE = "tests/web/test_gate.py::test_hostile_url_has_its_stated_verdict_and_touches_only_stated_addresses"
GATED = "tests/trust/test_user_inputs.py::"
BROWSER = "tests/web/test_browser.py::"
WALLS = "tests/web/test_recognise.py::"
KEPT_PAGES = "tests/live/test_walls.py::test_only_what_is_a_page_is_kept_and_a_wall_is_named_and_asked_once"
EXTRACTION = "tests/live/test_extraction.py::"
OPERATIONS = "tests/durable/test_operations.py::"
KILLED = "tests/crash/test_crash.py::test_killed_at_every_point_and_at_random_nothing_is_lost_and_nothing_finished_is_done_again"

TRUST_PAGE = rows_of(
    "trust 2",
    {
        "P1": owed(
            "no forbidden address is ever connected to, by the browser neither",
            GATE,
            "tests/trust/test_generated.py::test_no_url_built_of_the_corpus_is_read_otherwise_by_the_parser_or_dialled_where_it_may_not",
            "tests/trust/test_generated.py::test_a_gate_with_another_table_is_found_out",
            "tests/trust/test_peers.py::test_every_way_out_fails_the_test_that_takes_it_even_if_it_hides_it",
            "tests/trust/test_peers.py::test_child_that_reaches_out_when_its_test_is_over_fails_the_session",
            f"{BROWSER}test_no_way_out_of_a_page_reaches_a_trap_a_name_or_an_address_that_was_not_judged",
            f"{BROWSER}test_every_process_of_the_browser_lives_where_there_is_no_network",
            f"{BROWSER}test_traced_from_outside_no_process_connects_or_sends_anywhere_but_our_client_to_the_site",
            f"{BROWSER}test_the_trap_catches_a_browser_that_is_let_out",
        ),
        "P2": owed(
            "a name is looked up once a hop, and the peer is one of the judged addresses",
            "tests/trust/test_rebinding.py::test_200_fetches_of_rebinding_names_look_up_once_a_hop_and_meet_no_wrong_peer",
            "tests/trust/test_rebinding.py::test_a_gate_that_forgets_what_it_looked_up_is_found_out",
            "tests/trust/test_rebinding.py::test_a_gate_that_judges_no_answer_is_found_out",
        ),
        "P3": owed(
            "no proxy, netrc, certificate, cookie, referrer or credential of ours goes along",
            "tests/trust/test_traps.py::test_no_trap_is_sprung_and_no_credential_is_sent",
            "tests/trust/test_traps.py::test_an_obliging_client_springs_them",
            "tests/live/test_kept.py::test_nothing_of_a_cookie_is_kept_or_sent_back",
        ),
        "P4": owed(
            "every fetch ends, in time and small, and the next one is good",
            "tests/trust/test_responses.py::test_hostile_response_ends_as_stated_in_time_and_small_and_the_next_fetch_is_good",
            "tests/trust/test_responses.py::test_each_kind_of_fault_is_noticed",
            "tests/trust/test_time.py::test_chain_of_hosts_that_are_slow_in_everything_ends_in_time",
        ),
        "P5": owed(
            "a page can only hurt its own extraction",
            f"{EXTRACTION}test_a_page_that_kills_its_worker_costs_itself_alone",
            f"{EXTRACTION}test_a_page_that_computes_for_ever_is_ended_by_its_cpu_limit",
            f"{EXTRACTION}test_a_page_that_takes_more_memory_than_a_page_may_have_costs_itself",
            f"{EXTRACTION}test_a_worker_has_no_socket_and_no_variable_of_ours",
            f"{EXTRACTION}test_workers_end_when_their_parent_is_killed",
        ),
        "P6": owed(
            "a host is asked two at a time and a second apart, and a run has a ceiling",
            "tests/trust/test_politeness.py::test_300_urls_of_one_host_at_once_go_two_at_a_time_apart_and_none_over_the_ceiling",
            "tests/trust/test_politeness.py::test_as_it_is_set_by_default_a_host_is_asked_a_second_apart",
            "tests/trust/test_politeness.py::test_a_pace_that_is_too_fast_is_found_out",
            "tests/web/test_fetch.py::test_not_one_request_more_arrives_once_the_run_has_sent_what_it_may",
            "tests/live/test_kept.py::test_turns_of_one_process_stand_in_one_line_at_a_host",
        ),
        "P13": owed(
            "every published citation stands at its span in the kept text of a kept page",
            f"{TRUST}test_p13_every_quote_of_every_demo_answer_stands_in_its_page",
            f"{TRUST}test_p13_the_judge_notices_a_changed_byte",
            "tests/evidence/test_support.py::test_citation_attack_ends_as_the_corpus_says",
            "tests/live/test_older_texts.py::test_answers_stand_word_for_word_after_their_pages_were_read_anew",
            "tests/live/test_older_texts.py::test_a_bundle_of_an_older_extractor_satisfies_the_checker_of_strangers",
        ),
        "P14": owed(
            "a changed byte of a kept page is noticed",
            "tests/evidence/test_store.py::test_a_payload_flipped_cut_lengthened_swapped_or_deleted_is_noticed_1000_of_1000",
            "tests/evidence/test_store.py::test_anything_changed_in_a_kept_text_is_noticed",
            "tests/evidence/test_sheet.py::test_anything_changed_in_a_text_that_was_kept_before_is_noticed",
            "tests/evidence/test_verify.py::test_every_changed_byte_of_a_kept_page_and_text_is_noticed",
        ),
        "P15": owed(
            "what was acknowledged survives the death of the process",
            "tests/test_db.py::test_sqlite_runs_with_write_ahead_log_and_full_synchronisation",
            "tests/test_db.py::test_what_was_acknowledged_is_there_after_kill_9_at_a_named_point",
            "tests/test_db.py::test_what_was_acknowledged_is_there_after_kill_9_right_after_it",
            KILLED,
        ),
        "P16": owed(
            "no paid call is repeated without a decision",
            f"{OPERATIONS}test_result_charge_and_receipt_are_kept_together_or_not_at_all",
            f"{OPERATIONS}test_a_keyed_act_that_was_cut_is_done_again_under_the_same_key",
            f"{OPERATIONS}test_a_paid_act_that_was_cut_is_in_doubt_and_never_repeated_unasked",
            f"{OPERATIONS}test_a_decision_about_a_doubt_is_carried_out_once_and_signed",
            f"{SEARCHING}test_killed_before_it_was_recorded_a_paid_search_is_made_once",
            f"{SEARCHING}test_killed_between_record_and_settlement_a_paid_search_is_in_doubt_listed_and_not_repeated",
            f"{SEARCHING}test_killed_after_it_was_settled_a_paid_search_is_not_made_again",
            f"{SEARCHING}test_a_batch_with_a_doubt_answers_the_other_questions_and_stops_for_the_decision_at_its_end",
            KILLED,
        ),
    },
)

INPUTS = rows_of(
    "inputs of users",
    {
        "U01": owed(
            "UTF-8 under a header that says otherwise",
            f"{BYTES}test_01_utf8_under_a_header_that_says_otherwise_is_read",
        ),
        "U02": owed(
            "GB2312 that is declared late", f"{BYTES}test_02_gb2312_declared_late_is_read_and_a_quote_from_it_verifies"
        ),
        "U03": owed(
            "a redirect to the cloud's metadata",
            f"{GATED}test_input_3_redirect_to_cloud_metadata_is_refused_at_the_hop_and_says_nothing_of_it",
        ),
        "U04": owed(
            "a name with a public and a loopback address",
            f"{GATED}test_input_4_name_with_one_loopback_address_is_refused_and_an_accepted_one_is_met_where_it_was_checked",
        ),
        "U05": owed(
            "loopback in every spelling",
            f"{GATED}test_input_5_loopback_in_every_spelling_is_refused_with_the_same_outcome",
        ),
        "U06": owed(
            "30 MB without a length",
            f"{GATED}test_input_6_page_of_30_mb_without_a_length_is_read_to_the_cap_and_its_connection_is_closed",
        ),
        "U07": owed(
            "40 KB that grow to 4 GB",
            f"{GATED}test_input_7_40_kb_that_grow_to_4_gb_are_given_up_at_the_cap_within_a_second",
        ),
        "U08": owed(
            "a colspan of nine quadrillion",
            f"{BYTES}test_08_a_colspan_of_nine_quadrillion_takes_no_longer_than_another",
        ),
        "U09": owed(
            "a paragraph under 5,000 elements", f"{BYTES}test_09_a_paragraph_under_thousands_of_elements_is_read"
        ),
        "U10": owed(
            "a search engine that answers 202",
            f"{SEARCHING}test_input_10_an_engine_that_answers_202_is_rate_limited_and_the_next_one_is_asked",
            f"{SEARCHING}test_input_10_in_the_same_process_it_is_left_alone_and_the_answer_says_for_how_long",
        ),
        "U11": owed(
            "SearXNG without JSON",
            f"{SEARCHING}test_input_11_searxng_without_json_is_refused_with_the_hint_how_to_mend_it",
        ),
        "U12": owed(
            "no results because no engine answered",
            f"{SEARCHING}test_input_12_no_results_from_engines_that_did_not_answer_is_failed_and_names_them",
        ),
        "U13": owed(
            "a message about a quota instead of results",
            f"{SEARCHING}test_input_13_a_message_instead_of_results_is_a_refusal_and_the_run_goes_on",
        ),
        "U14": owed(
            "a question of 2,500 characters",
            f"{SEARCHING}test_input_14_a_long_question_is_shortened_for_the_engine_and_kept_whole_in_the_run",
        ),
        "U15": owed(
            "a challenge; a shell of scripts",
            f"{WALLS}test_input_15_a_challenge_is_a_bot_wall_and_a_script_shell_needs_javascript_and_neither_is_empty",
            KEPT_PAGES,
        ),
        "U16": owed(
            "an article that loads a captcha",
            f"{WALLS}test_input_16_an_article_whose_comment_form_loads_a_captcha_is_a_page",
            KEPT_PAGES,
        ),
        "U17": owed(
            "a consent form; a banner before an article",
            f"{WALLS}test_input_17_a_refusal_with_a_consent_form_is_a_cookie_wall_and_a_banner_before_an_article_is_none",
            KEPT_PAGES,
        ),
        "U18": owed(
            "a PDF under another type; an error page under a PDF's name",
            f"{BYTES}test_18_a_pdf_is_one_under_any_type_and_an_error_page_is_none_under_any_name",
        ),
        "U19": owed(
            "a robots file that fails or hangs",
            "tests/live/test_kept.py::test_an_answer_names_the_sites_whose_robots_file_could_not_be_had",
            "tests/web/test_fetch.py::test_robots_file_that_cannot_be_had_shuts_its_site_for_the_run_and_says_why",
        ),
        "U20": owed(
            "hidden text and a title that give orders",
            "tests/acceptance/test_answers.py::test_a06_an_order_on_a_page_is_not_obeyed",
            "tests/web/extract/test_html.py::test_every_visible_word_is_kept_every_hidden_one_left_out_and_every_block_stands_in_the_source",
        ),
        "U21": later(
            "killed after the second of four paid calls, by itself on",
            "a run goes on by itself when a server is there to start it; a command goes on when it is asked again (P16)",
        ),
        "U22": later("a stream is taken up at its last number", "streams come with the server"),
        "U23": owed(
            "two processes with ten questions each on one store",
            "tests/acceptance/test_recovery.py::test_input_23_two_processes_of_ten_questions_each_share_one_store",
        ),
        "U24": later("half a reply of a model", MODEL),
        "U25": owed(
            "words of two characters; a page that changed after it was cited",
            "tests/evidence/test_recall.py::test_words_of_any_script_are_found_on_both_databases",
            "tests/live/test_kept.py::test_a_page_that_changed_after_it_was_cited_leaves_the_old_answer_true",
        ),
    },
)


PROMISES: dict[str, Promise] = {**TRUST_PAGE, **INPUTS, **REFERENCE, **LACKING}


def main() -> int:
    """Run every test that is named here; the figures on the last line."""
    import pytest

    tests = sorted({test for promise in PROMISES.values() for test in promise.tests})
    code = int(pytest.main(["-q", *tests]))
    n_owed = sum(bool(promise.tests) for promise in PROMISES.values())
    said = "all kept" if code == 0 else "NOT all kept"
    print(
        f"{n_owed} promises by {len(tests)} tests: {said}; {len(PROMISES) - n_owed} not in this release, each with why"
    )
    return code


if __name__ == "__main__":
    sys.exit(main())
