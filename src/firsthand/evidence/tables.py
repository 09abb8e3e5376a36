"""The tables of kept pages, on the house's one ``metadata``; ``evidence.store`` is the only writer."""

from __future__ import annotations

import sqlalchemy as sa

from firsthand.db import metadata

snapshot = sa.Table(
    "snapshot",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),  # "sha256:…" of the payload as it was, not as it is stored
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Column("coding", sa.Text, nullable=False),  # "zlib", or "" when that would not make it smaller
    sa.Column("stored_crc32", sa.BigInteger, nullable=False),  # of the stored bytes: zlib's padding bits say nothing
    sa.Column("payload_bytes", sa.Integer, nullable=False),  # before the coding
    sa.Column("media_type", sa.Text, nullable=False),  # as the first capture declared it
    sa.Column("first_kept_at", sa.Text, nullable=False),
)
capture = sa.Table(
    "capture",
    metadata,
    sa.Column("capture_id", sa.Integer, primary_key=True),
    sa.Column("requested_url", sa.Text, nullable=False, index=True),
    sa.Column("url", sa.Text, nullable=False, index=True),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("headers", sa.Text, nullable=False),  # JSON object
    sa.Column("redirects", sa.Text, nullable=False),  # JSON array
    sa.Column("retrieved_at", sa.Text, nullable=False),
    sa.Column("snapshot", sa.Text, sa.ForeignKey("snapshot.digest"), nullable=False, index=True),
    sa.Column("is_revisit", sa.Boolean, nullable=False),  # the payload was here already
    # The request header by which the server confirmed it, without sending it again (status 304); else empty.
    sa.Column("validator", sa.Text, nullable=False, server_default=""),
    sa.Column("is_file", sa.Boolean, nullable=False, server_default=sa.false()),  # named by its address, not fetched
    sqlite_autoincrement=True,  # a number is never given twice, or an old journal would point at another page
)
text = sa.Table(
    "text",
    metadata,
    sa.Column("text_id", sa.Integer, primary_key=True),
    sa.Column("text_digest", sa.Text, nullable=False),  # of the body
    sa.Column("sheet_digest", sa.Text, nullable=False),  # of the body's digest and everything that stands beside it
    sa.Column("snapshot", sa.Text, sa.ForeignKey("snapshot.digest"), nullable=False),
    sa.Column("extractor", sa.Text, nullable=False),
    sa.Column("extractor_version", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("blocks", sa.Text, nullable=False),  # JSON, as evidence.sheet packs it
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("language", sa.Text),
    sa.Column("author", sa.Text),
    sa.Column("published_at", sa.Text),
    sa.Column("modified_at", sa.Text),
    sa.Column("charset", sa.Text),
    sa.Column("declared_charset", sa.Text),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("canonical_url", sa.Text),
    sa.Column("site_name", sa.Text),
    sa.Column("links", sa.Text, nullable=False),  # JSON array
    sa.Column("n_hidden", sa.Integer, nullable=False),
    sa.Column("sheet_format", sa.Integer, nullable=False, server_default="1"),
    # Nothing stands in these in a row of format 1.
    sa.Column("anchors", sa.Text),  # JSON, as evidence.sheet packs them; so the others
    sa.Column("fact_sources", sa.Text),
    sa.Column("hidden", sa.Text),
    sa.Column("n_invisible", sa.Integer),
    # One payload gives two texts when two servers declare two charsets for it, so the sheet is part of the key.
    sa.UniqueConstraint("snapshot", "extractor", "extractor_version", "sheet_digest", name="uq_text"),
    sqlite_autoincrement=True,
)
library = sa.Table(
    "library",
    metadata,
    sa.Column("library_id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created_at", sa.Text, nullable=False),
    sqlite_autoincrement=True,
)
holding = sa.Table(
    "holding",
    metadata,
    sa.Column("library_id", sa.Integer, sa.ForeignKey("library.library_id"), primary_key=True),
    sa.Column("url", sa.Text, primary_key=True),
    sa.Column("text_id", sa.Integer, sa.ForeignKey("text.text_id"), nullable=False, index=True),
    sa.Column("capture_id", sa.Integer, sa.ForeignKey("capture.capture_id"), nullable=False),
    sa.Column("handle", sa.Text, nullable=False, unique=True),
    sa.Column("added_at", sa.Text, nullable=False),
    sa.Column("site", sa.Text, nullable=False, index=True),
)
# Every handle that was ever given out, for good: what it names never changes, also when the page has a newer text.
handle = sa.Table(
    "handle",
    metadata,
    sa.Column("handle", sa.Text, primary_key=True),
    sa.Column("library_id", sa.Integer, sa.ForeignKey("library.library_id"), nullable=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("text_id", sa.Integer, sa.ForeignKey("text.text_id"), nullable=False),
    sa.Column("capture_id", sa.Integer, sa.ForeignKey("capture.capture_id"), nullable=False),
)
