"""local-deep-research: quick_summary from its programmatic API, SearXNG engine.

Its guard against private addresses would refuse every page of the world: it is switched off.
"""

from __future__ import annotations

import os

from benchmarks.world import clock


def load() -> clock.Ask:
    """The program, imported."""
    clock.use_shipped_tokenizer()
    import local_deep_research.content_fetcher.fetcher as fetcher  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import local_deep_research.security.ssrf_validator as guard  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from local_deep_research.api import quick_summary  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from local_deep_research.api.settings_utils import create_settings_snapshot  # type: ignore[import-not-found,import-untyped,unused-ignore]

    fetcher.validate_url = guard.validate_url = lambda url, **_: True
    world, strategy = os.environ["WORLD"], os.environ.get("LDR_STRATEGY", "source_based")
    given = {
        "llm.provider": "openai_endpoint", "llm.model": "double", "llm.openai_endpoint.url": f"{world}/v1",
        "llm.openai_endpoint.api_key": "sk-world", "search.tool": "searxng", "search.search_strategy": strategy,
        "search.engine.web.searxng.default_params.instance_url": world, "rate_limiting.enabled": False,
    }  # fmt: skip

    def ask(question: str) -> str:
        found = quick_summary(
            question,
            settings_snapshot=create_settings_snapshot(given),
            search_tool="searxng",
            search_strategy=strategy,
            provider="openai_endpoint",
            model_name="double",
            openai_endpoint_url=f"{world}/v1",
            iterations=1,
            questions_per_iteration=3,
            programmatic_mode=True,
        )
        return str(found.get("formatted_findings") or found["summary"])

    return ask


if __name__ == "__main__":
    clock.main(load)
