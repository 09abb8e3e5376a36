"""The whole sweep of the small engine: every passage of every point, failed writes, random kills, kills in recovery.

    python tests/crash/durable_sweep.py [--random N] [--double N] [--out FILE]

Its figures are the last line. The tests run one passage a point; this runs all of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from firsthand import migrations
from firsthand.db import open_database
from tests.crash import engine
from tests.crash.sweep import sweep
from tests.crash.test_crash import Case, Nursery, World


def main() -> int:
    """Exit code 1 if anything was lost or done again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=60)
    parser.add_argument("--double", type=int, default=20)
    parser.add_argument("--hits", type=int)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = open_database(f"sqlite:///{folder / 'template.db'}")
        migrations.upgrade(database)
        database.write_now(engine.kept_table.create)
        database.close()
        world, nursery = World(), Nursery()
        try:
            summary = sweep(
                Case(world, nursery, folder / "template.db", folder / "case").subject,
                hits=given.hits,
                n_random=given.random,
                n_double=given.double,
                fail_at=("db.before_commit",),
                again_every=1,
                out=given.out,
            )
        finally:
            nursery.close()
            world.close()
    for row in summary.bad:
        print(row)
    print(json.dumps(summary.figures()))
    return 1 if summary.bad else 0


if __name__ == "__main__":
    sys.exit(main())
