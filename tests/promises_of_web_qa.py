"""What the reference's acceptance cases ask for (A), and those that it lacks (N)."""

from __future__ import annotations

from tests.promise import later, owed, rows_of

ANSWERS = "tests/acceptance/test_answers.py::"
RECOVERY = "tests/acceptance/test_recovery.py::"
READING = "tests/acceptance/test_reading.py::"
DISCLOSURE = "tests/acceptance/test_disclosure.py::"
TRUST = "tests/acceptance/test_trust.py::"
GATE = "tests/web/test_gate.py::test_hostile_url_has_its_stated_verdict_and_touches_only_stated_addresses"
RESPONSES = (
    "tests/trust/test_responses.py::test_hostile_response_ends_as_stated_in_time_and_small_and_the_next_fetch_is_good"
)
GUARDS = "tests/evidence/test_support.py::test_guards_judge_a_claim"
CONTRACT = "tests/web/search/test_contract.py::"
CORROBORATE = "tests/evidence/test_corroborate.py::"
BUNDLE = "tests/test_verify_bundle.py::"
KILLED = "tests/crash/test_crash.py::test_killed_at_every_point_and_at_random_nothing_is_lost_and_nothing_finished_is_done_again"
OTHER_TURN = "tests/durable/test_journal.py::test_another_question_or_other_options_start_a_turn_of_their_own"
MODEL = "comes with the model loop: without a model there is no draft, no plan of a model's and no checker"
POLICY = "comes with the server: one person's command line has no policy that somebody else switches off"
LIVE = "needs the live web; reported by hand, never gated (design R17)"

REFERENCE = rows_of(
    "web-qa 6.3",
    {
        "A01": later("a factual question on the live web is answered and cited", LIVE),
        "A02": later("a cross-check on the live web finds two sites for every claim", LIVE),
        "A03": owed(
            "the page is believed, the search snippet is not",
            f"{ANSWERS}test_a03_the_page_is_believed_and_the_snippet_is_not",
        ),
        "A04": owed(
            "two sites that say the same corroborate a claim, found by search or named in the question",
            f"{ANSWERS}test_a04_two_sites_that_say_the_same_corroborate",
            f"{ANSWERS}test_a04_a_page_that_the_question_names_is_a_source_beside_what_the_search_found",
        ),
        "A05": owed(
            "pages that differ are both cited, and none wins",
            f"{ANSWERS}test_a05_pages_that_differ_are_both_cited_and_none_wins",
        ),
        "A06": owed(
            "an order on a page is neither obeyed nor quoted", f"{ANSWERS}test_a06_an_order_on_a_page_is_not_obeyed"
        ),
        "A07": owed(
            "nothing found is insufficient evidence, not a failure",
            f"{ANSWERS}test_a07_nothing_found_is_insufficient_and_no_failure",
        ),
        "A08": owed(
            "a question without a subject is asked back, and nobody is asked",
            f"{ANSWERS}test_a08_a_question_without_a_subject_is_asked_back_and_nothing_is_sent",
        ),
        "A09": owed(
            "a dead page is listed beside the answer (partial answers are always allowed)",
            f"{ANSWERS}test_a09_a_dead_page_is_listed_beside_the_answer",
        ),
        "A10": owed(
            "all pages dead: an answer of status failed instead of an exception (design section 4, R16); later it succeeds",
            f"{ANSWERS}test_a10_all_pages_dead_is_a_failure_and_the_next_ask_succeeds",
        ),
        "A11": owed(
            "a dead search: an answer of status failed (design section 4, R16); later it succeeds",
            f"{ANSWERS}test_a11_a_dead_search_is_a_failure_and_the_next_ask_succeeds",
        ),
        "A12": owed(
            "a search that answers 429 is a visible refusal and the next provider's turn; it is not asked again in the same "
            "answer, unless it is free and says to come back within 3 s (evidence 6.5 rules the chain)",
            f"{ANSWERS}test_a12_a_search_that_asks_to_wait_is_never_taken_for_an_empty_one",
        ),
        "A13": owed(
            "a page that answers 429 once is asked again", f"{ANSWERS}test_a13_a_page_that_asks_to_wait_is_asked_again"
        ),
        "A14": owed(
            "a redirect off the list is never followed, and is listed",
            f"{ANSWERS}test_a14_a_redirect_off_the_list_is_never_followed",
        ),
        "A15": later("invented quotes end in a citation error after one repair", MODEL),
        "A16": later("altered claims end in a grounding error after one repair", MODEL),
        "A17": later(
            "a run completes after its cache entry expired",
            "there is no cache beside the database (design D2); stopped at the same place: A25",
        ),
        "A18": later(
            "a closed cache connection ends the run before any model call",
            "there is no cache beside the database (design D2)",
        ),
        "A19": owed(
            "a table that is gone ends the run before anything is sent; restored, it completes",
            f"{RECOVERY}test_a19_a_table_that_is_gone_ends_the_run_before_anything_is_sent",
        ),
        "A20": owed(
            "another question never continues a stopped turn; it starts one of its own instead of an error (design R15)",
            OTHER_TURN,
        ),
        "A21": later("a disabled policy refuses a stopped run", POLICY),
        "A22": owed(
            "a kept page that was changed is not published; restored, the turn completes",
            f"{RECOVERY}test_a22_a_kept_page_that_was_changed_is_not_published",
        ),
        "A23": owed(
            "cancelled before it starts, nothing runs", f"{RECOVERY}test_a23_cancelled_before_it_starts_nothing_runs"
        ),
        "A24": owed(
            "killed after a page was kept, that page is not fetched again",
            f"{RECOVERY}test_a24_killed_after_a_page_was_kept_that_page_is_not_fetched_again",
            KILLED,
        ),
        "A25": owed(
            "killed after reading, nothing is asked of the web again",
            f"{RECOVERY}test_a25_killed_after_reading_nothing_is_asked_of_the_web_again",
        ),
        "A26": owed(
            "killed after the answer was kept, that answer is delivered",
            f"{RECOVERY}test_a26_killed_after_the_answer_was_kept_that_answer_is_delivered",
        ),
        "A27": owed(
            "somebody else's file is left alone, the answer is kept, and delivered once the file is gone",
            f"{RECOVERY}test_a27_a_file_of_somebody_else_is_left_alone",
        ),
        "A28": owed(
            "a reference address off the list is refused and nothing is sent to it (when the run reaches it)",
            f"{ANSWERS}test_a28_a_named_page_off_the_list_is_refused_and_nothing_is_sent_to_it",
        ),
        "A29": owed(
            "more sources than an answer may have are wrong usage (the limit is 50)",
            f"{DISCLOSURE}test_a29_more_sources_than_an_answer_may_have_are_wrong_usage",
        ),
        "A30": owed("an address with user and password is refused", GATE),
        "A31": owed(
            "a private page is refused although it is on the list; only FIRSTHAND_ALLOW_PRIVATE lifts it (design R14)",
            f"{ANSWERS}test_a31_a_private_page_on_the_list_is_still_refused",
            GATE,
        ),
        "A32": owed("private and special addresses are refused, public ones are not", GATE),
        "A33": owed(
            "a short Retry-After is waited for, a long one is not",
            "tests/web/test_fetch.py::test_busy_server_is_asked_once_more_when_it_says_or_left_alone_until_then",
            "tests/live/test_kept.py::test_when_a_site_may_be_asked_again_is_a_field_of_the_refusal",
        ),
        "A34": owed(
            "hits that differ by fragment are one page", f"{ANSWERS}test_a34_hits_that_differ_by_fragment_are_one_page"
        ),
        "A35": owed(
            "the same words on two sites do not corroborate",
            f"{CORROBORATE}test_same_text_on_two_sites_does_not_corroborate",
        ),
        "A36": owed(
            "a page that never finishes ends when the asker leaves",
            f"{ANSWERS}test_a36_cancelling_ends_a_page_that_never_does",
            "tests/web/test_fetch.py::test_cancelled_fetch_ends_at_once_and_closes_its_connection",
        ),
        "A37": owed(
            "a search query is trimmed and its hits are cut to the limit",
            f"{ANSWERS}test_a37_a_search_is_trimmed_and_cut_to_its_limit",
            f"{CONTRACT}test_no_more_hits_than_asked_for",
        ),
        "A38": owed(
            "a query that asks nothing never reaches a provider; a long one is cut at word borders instead of refused "
            "(evidence 6.5)",
            f"{CONTRACT}test_a_query_that_asks_nothing_is_refused_before_the_provider_is_called",
            f"{CONTRACT}test_a_long_query_is_cut_at_word_borders_and_keeps_what_names_the_subject",
        ),
        "A39": later("a tool that was not granted is refused", "tools and grants come with the agent"),
        "A40": owed(
            "long titles and snippets are cut to whole characters",
            f"{CONTRACT}test_long_titles_and_snippets_are_cut_to_whole_characters",
        ),
        "A41": owed(
            "a provider's error is never repeated, and what is no web address is no hit",
            f"{CONTRACT}test_a_failure_has_its_outcome_and_code_and_never_echoes_the_provider",
            "tests/web/search/test_codec.py::test_what_is_not_a_plain_web_address_is_no_hit",
        ),
        "A42": owed(
            "a provider gets the request that its interface promises, and its redirects are errors",
            "tests/web/search/test_searxng.py::test_the_search_path_stands_under_the_base_address",
            "tests/web/search/test_duckduckgo.py::test_the_query_is_posted_as_the_form_of_the_page",
            "tests/web/search/test_loopback.py::test_a_redirect_is_not_followed",
        ),
        "A43": owed(
            "429, no JSON and a wrong shape are failures with a code; a time limit of nothing is refused",
            f"{CONTRACT}test_a_failure_has_its_outcome_and_code_and_never_echoes_the_provider",
            "tests/web/search/test_loopback.py::test_an_instance_without_json_is_a_refusal_with_a_hint",
            "tests/web/search/test_providers.py::test_a_time_limit_of_nothing_is_refused",
        ),
        "A44": owed(
            "importing does nothing, and the documented examples print what the documents say",
            f"{DISCLOSURE}test_a44_importing_does_nothing_and_an_answer_comes_from_the_command",
            "tests/test_docs.py::test_the_commands_of_a_document_print_what_it_says",
        ),
        "A45": owed(
            "rooms import downwards only, and the engine does no I/O",
            f"{TRUST}test_a45_rooms_import_downwards_and_the_engine_does_no_io",
        ),
    },
)

LACKING = rows_of(
    "web-qa 6.4",
    {
        "N01": later("a policy disabled while pages are read is no failed source", POLICY),
        "N02": owed(
            "a kept text that was changed stops the turn; it is no failed source",
            f"{RECOVERY}test_n02_a_kept_text_that_was_changed_is_no_failed_source",
        ),
        "N03": later("a removed principal gets nothing delivered", POLICY),
        "N04": owed(
            "a turn is continued only with the providers that it was asked with; others start a turn of their own (design R15)",
            OTHER_TURN,
        ),
        "N05": owed(
            "many long pages with long names are no failure",
            f"{READING}test_n05_six_long_pages_with_long_names_are_no_failure",
        ),
        "N06": owed(
            "a page of ninety thousand Chinese characters is read",
            f"{READING}test_n06_a_page_of_ninety_thousand_chinese_characters_is_read",
        ),
        "N07": later("five missing facets and a cross-check note are all visible", MODEL),
        "N08": owed(
            "questions in Russian, Arabic, Japanese and Korean find the right block",
            f"{READING}test_n08_questions_in_other_scripts_find_the_right_block",
        ),
        "N09": later("a plan that is no JSON is asked for once more", MODEL),
        "N10": later("a draft that was cut off is repaired once", MODEL),
        "N11": later("killed between draft and check, the stored draft is checked", MODEL),
        "N12": later("a budget of calls stops a run, resumably", MODEL),
        "N13": owed(
            "two that drive one session take turns, and no request is made twice for one turn",
            f"{TRUST}test_n13_two_that_ask_the_same_at_once_take_turns_and_both_get_an_answer",
            "tests/durable/test_lease.py::test_a_second_holder_is_refused_and_told_how_long_to_wait",
        ),
        "N14": owed(
            "a holder that was frozen past its lease writes nothing when it wakes",
            "tests/durable/test_lease.py::test_a_frozen_process_that_wakes_after_its_lease_writes_nothing",
        ),
        "N15": owed(
            "stopped while files are put in place: the old state or the new one, never half a file (by kill; what is synced, "
            "and when, is asserted for the database)",
            f"{RECOVERY}test_n15_killed_while_files_are_put_in_place_none_is_half_written",
            "tests/test_db.py::test_sqlite_runs_with_write_ahead_log_and_full_synchronisation",
        ),
        "N16": owed("25 % is not borne by 25", GUARDS),
        "N17": owed("a claim that drops a negation is contradicted", GUARDS),
        "N18": owed("a number that no quote holds is unsupported", GUARDS),
        "N19": owed(
            "a quote that says too little is refused",
            "tests/evidence/test_quotes.py::test_a_quote_that_says_too_little_is_refused",
        ),
        "N20": owed(
            "a quote that differs in marks and spaces only is replaced by the page's words, and that is recorded",
            "tests/evidence/test_quotes.py::test_a_quote_is_found_where_a_reader_would_see_it",
            "tests/evidence/test_verify.py::test_words_that_differ_in_spaces_only_are_normalised",
        ),
        "N21": owed(
            "a quote that occurs twice is told apart by its context",
            "tests/evidence/test_quotes.py::test_ties_go_to_context_then_to_the_nearest_then_to_the_first",
            "tests/evidence/test_quotes.py::test_a_folded_tie_is_settled_by_context_too",
        ),
        "N22": owed(
            "www. and the bare host are one site",
            f"{CORROBORATE}test_sites_are_told_apart_by_the_public_suffix_list",
            f"{CORROBORATE}test_two_wordings_corroborate_on_two_sites_only",
        ),
        "N23": owed(
            "agency text with another byline does not corroborate",
            f"{CORROBORATE}test_one_text_with_another_byline_is_one_text",
            f"{CORROBORATE}test_same_text_on_two_sites_does_not_corroborate",
        ),
        "N24": owed(
            "two tenants of one hosting suffix are two sites",
            f"{CORROBORATE}test_sites_are_told_apart_by_the_public_suffix_list",
        ),
        "N25": owed(
            "only the claim that speaks of the disputed thing is disputed",
            f"{CORROBORATE}test_only_the_claim_that_speaks_of_the_disputed_thing_is_disputed",
        ),
        "N26": owed(
            "two numbers for one attribute are a conflict that the answer names",
            f"{CORROBORATE}test_two_numbers_for_one_attribute_are_a_candidate_conflict",
            f"{DISCLOSURE}test_n26_numbers_that_differ_are_named_although_nobody_asked_for_a_check",
            f"{DISCLOSURE}test_n26_pages_that_agree_on_two_numbers_are_no_conflict",
        ),
        "N27": owed(
            "a part of the question that no claim answers is named as missing",
            f"{DISCLOSURE}test_n27_a_part_of_the_question_without_a_claim_is_named",
        ),
        "N28": owed(
            "a page that robots forbid is not asked for, and it is said",
            f"{READING}test_n28_a_page_that_robots_forbid_is_not_asked_for_and_it_is_said",
        ),
        "N29": owed(
            "a missing robots file allows; one that fails or never comes forbids",
            f"{READING}test_n29_a_robots_file_that_cannot_be_had_forbids_the_site",
            "tests/web/test_robots.py::test_missing_file_allows_and_unreachable_file_forbids",
            "tests/web/test_robots.py::test_server_that_never_answers_forbids_until_it_is_asked_again",
        ),
        "N30": owed(
            "five redirects of a robots file are followed, six make it absent",
            "tests/web/test_robots.py::test_five_redirects_are_followed_and_a_sixth_makes_the_file_absent",
        ),
        "N31": owed(
            "requests to one host are spaced (two may be under way at a time, as the table of limits says: design D5)",
            "tests/web/test_pace.py::test_three_hundred_requests_of_one_host_go_two_at_a_time_and_a_second_apart",
        ),
        "N32": owed(
            "a site that asks for an hour is left, the others go on, and the answer says when it may be asked again",
            f"{READING}test_n32_a_site_that_asks_for_an_hour_is_left_and_the_others_go_on",
        ),
        "N33": owed("a host with one private address among its addresses is refused", GATE),
        "N34": owed(
            "a name that changes its address later gains nothing: the judged address is dialled",
            GATE,
            "tests/web/test_gate.py::test_name_is_looked_up_once_a_fetch_and_again_in_the_next",
            "tests/web/test_client.py::test_name_that_reaches_the_connector_is_not_looked_up",
        ),
        "N35": owed(
            "numbers and backslashes are no way round the gate (refused, the second too: hostile corpus); a trailing root dot "
            "is stripped instead of refused (design D5)",
            GATE,
            "tests/web/test_address.py::test_canonical_form_has_no_fragment_no_root_dot_and_no_default_port",
        ),
        "N36": owed(
            "the redirects of one page are limited (to ten instead of three: design D5)",
            GATE,
            "tests/web/test_limits.py::test_address_limits_are_the_corpus_defaults",
        ),
        "N37": owed(
            "a redirect from https to http is refused",
            "tests/web/test_address.py::test_redirect_from_https_to_http_is_refused",
        ),
        "N38": owed(
            "a windows-1251 page has the right characters, declared or not, and its snapshot is its raw bytes",
            f"{READING}test_n38_an_old_encoding_gives_the_right_characters",
        ),
        "N39": owed(
            "a packed page is unpacked within the limit",
            f"{READING}test_n39_a_packed_page_nobody_asked_for_packed_is_read",
            RESPONSES,
        ),
        "N40": owed(
            "a body over the limit and a bomb stop early, by decoded size (10 MiB instead of 1: design D5)",
            RESPONSES,
            "tests/web/test_decode.py::test_bomb_is_refused_after_the_limit_and_a_cut_body_is_an_error",
        ),
        "N41": owed(
            "what a page is, its bytes decide, not its header (PDF is read: design D17, R4)",
            "tests/web/extract/test_pdf.py::test_the_bytes_decide_not_the_header",
            "tests/web/extract/test_extract.py::test_the_kind_is_decided_by_the_bytes",
        ),
        "N42": owed(
            "a body that is shorter than it said is no page",
            f"{READING}test_n42_a_page_that_is_cut_off_is_no_page",
            RESPONSES,
        ),
        "N43": owed(
            "a fact in a table or a list can be quoted",
            f"{READING}test_n43_a_fact_that_stands_in_a_table_or_a_list_is_quoted",
        ),
        "N44": owed(
            "what no reader sees is never quoted",
            f"{READING}test_n44_what_no_reader_sees_is_never_quoted",
            "tests/web/extract/test_seen.py::test_a_reason_is_named_for_what_is_not_seen",
            "tests/web/extract/test_hostile_pages.py::test_a_hostile_page_has_the_words_that_a_reader_sees_and_keeps_the_others_apart",
        ),
        "N45": owed(
            "words on two lines stay two words",
            f"{READING}test_n45_words_on_two_lines_stay_two_words",
            "tests/web/extract/test_html.py::test_inline_borders_add_no_space_and_breaks_and_blocks_do",
        ),
        "N46": owed(
            "a page of three hundred thousand characters is read to its end (nothing is cut, so nothing is disclosed)",
            f"{READING}test_n46_a_page_of_three_hundred_thousand_characters_is_read_to_its_end",
        ),
        "N47": owed("no character is cut in two", f"{READING}test_n47_a_character_of_two_units_is_never_cut"),
        "N48": owed(
            "a better extractor never moves an old citation",
            "tests/evidence/test_store.py::test_an_old_citation_finds_its_text_after_the_extractor_was_changed",
            "tests/evidence/test_verify.py::test_only_the_stored_version_counts",
            "tests/live/test_older_texts.py::test_answers_stand_word_for_word_after_their_pages_were_read_anew",
            "tests/evidence/test_captures.py::test_two_versions_of_the_extractor_make_no_change_of_a_page",
        ),
        "N49": owed(
            "one malformed hit is dropped and counted, the others stay",
            f"{CONTRACT}test_one_malformed_hit_is_dropped_and_counted_and_the_others_stay",
        ),
        "N50": owed(
            "the next hit takes the place of one that fails",
            f"{DISCLOSURE}test_n50_the_next_hit_takes_the_place_of_one_that_fails",
        ),
        "N51": owed("a mirror counts once and is listed", f"{DISCLOSURE}test_n51_a_mirror_is_read_once_and_listed"),
        "N52": owed(
            "hits off the list are listed, with their addresses instead of a count",
            f"{DISCLOSURE}test_n52_hits_off_the_list_are_not_asked_for_and_are_listed",
        ),
        "N53": owed(
            "a German question without an answer is told so in German",
            f"{DISCLOSURE}test_n53_a_german_question_without_an_answer_is_told_so_in_german",
        ),
        "N54": owed(
            "nothing in a page becomes active in an answer",
            f"{DISCLOSURE}test_n54_nothing_in_a_page_becomes_active_in_an_answer",
            "tests/test_page.py::test_a_payload_in_any_field_stays_text",
        ),
        "N55": later("a page that orders the checker changes no verdict", MODEL),
        "N56": owed("no address in a page is asked for", f"{DISCLOSURE}test_n56_no_address_in_a_page_is_asked_for"),
        "N57": later("a passage that names another passage selects nothing", MODEL),
        "N58": owed(
            "an exported answer is verified offline by a program that shares no code",
            f"{DISCLOSURE}test_n58_an_exported_answer_is_checked_by_a_program_that_shares_nothing",
            f"{BUNDLE}test_it_runs_alone_without_the_package",
        ),
        "N59": owed(
            "a changed byte in a bundle is noticed and its file is named (bundles are not signed yet)",
            f"{BUNDLE}test_a_changed_byte_in_any_file_is_noticed",
            f"{BUNDLE}test_every_random_change_of_a_byte_is_noticed",
        ),
        "N60": later(
            "a bundle that an unknown key signed is intact but not trusted",
            "design R4 makes a bundle a folder with a manifest; signatures come later",
        ),
        "N61": owed(
            "the deep link of a quote names its words as browsers read them (in a browser with the web page's release)",
            "tests/evidence/test_fragments.py::test_a_link_names_the_quoted_words",
            "tests/evidence/test_fragments.py::test_a_directive_holds_no_sign_that_would_split_it",
            "tests/test_page.py::test_the_deep_link_names_the_first_words_of_the_quote",
        ),
        "N62": later(
            "a WARC export is read by an independent reader",
            "design R4 rules the form of an export: payloads, texts and a manifest, no WARC",
        ),
        "N63": owed(
            "a clock that jumps neither ends nor prolongs anything",
            "tests/durable/test_lease.py::test_on_one_machine_a_stepped_wall_clock_neither_ends_nor_prolongs_a_lease",
        ),
        "N64": owed(
            "a full disk is said in a sentence, nothing is half written, and the turn goes on when there is room",
            f"{RECOVERY}test_n64_a_full_disk_is_said_in_a_sentence_and_the_answer_goes_on_when_there_is_room",
            "tests/test_db.py::test_on_a_full_disk_reads_go_on_and_work_resumes_when_there_is_space",
        ),
        "N65": owed(
            "a link that was planted where a file goes is not followed",
            f"{RECOVERY}test_n65_a_link_planted_where_a_file_goes_is_not_followed",
            "tests/evidence/test_bundle.py::test_a_file_or_a_link_in_the_way_is_refused",
            f"{BUNDLE}test_links_and_devices_are_not_followed",
        ),
    },
)
