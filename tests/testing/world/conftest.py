"""One world of three small pages."""

from __future__ import annotations

from firsthand.testing.world import world_fixture

TIDES = "<title>Tides</title><p>The tide turns at noon, and the harbour empties within the hour. Boats wait outside."
DUNES = (
    '<title>Dunes</title><p>The dunes move inland, past the harbour. <a href="tides.html">Tides</a> do not stop them.'
)
MANUAL = "<title>Harbour: a manual</title><p>Moor at the &lt;north&gt; quay of the harbour & pay 12 € before noon."
PAGES = {"tides.html": TIDES, "dunes.html": DUNES, "manual & more/a b.html": MANUAL}

world = world_fixture(PAGES, hosts=2)
