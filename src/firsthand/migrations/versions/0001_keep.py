"""Kept pages: snapshots, captures, texts, libraries, holdings, handles."""

import sqlalchemy as sa
from alembic import op

revision = "0001_keep"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "snapshot",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("coding", sa.Text, nullable=False),
        sa.Column("stored_crc32", sa.BigInteger, nullable=False),
        sa.Column("payload_bytes", sa.Integer, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("first_kept_at", sa.Text, nullable=False),
    )
    op.create_table(
        "capture",
        sa.Column("capture_id", sa.Integer, primary_key=True),
        sa.Column("requested_url", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("headers", sa.Text, nullable=False),
        sa.Column("redirects", sa.Text, nullable=False),
        sa.Column("retrieved_at", sa.Text, nullable=False),
        sa.Column("snapshot", sa.Text, sa.ForeignKey("snapshot.digest"), nullable=False),
        sa.Column("is_revisit", sa.Boolean, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_capture_snapshot", "capture", ["snapshot"])
    op.create_index("ix_capture_url", "capture", ["url"])
    op.create_table(
        "text",
        sa.Column("text_id", sa.Integer, primary_key=True),
        sa.Column("text_digest", sa.Text, nullable=False),
        sa.Column("sheet_digest", sa.Text, nullable=False),
        sa.Column("snapshot", sa.Text, sa.ForeignKey("snapshot.digest"), nullable=False),
        sa.Column("extractor", sa.Text, nullable=False),
        sa.Column("extractor_version", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("blocks", sa.Text, nullable=False),
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
        sa.Column("links", sa.Text, nullable=False),
        sa.Column("n_hidden", sa.Integer, nullable=False),
        sa.UniqueConstraint("snapshot", "extractor", "extractor_version", "sheet_digest", name="uq_text"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "library",
        sa.Column("library_id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("created_at", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "holding",
        sa.Column("library_id", sa.Integer, sa.ForeignKey("library.library_id"), primary_key=True),
        sa.Column("url", sa.Text, primary_key=True),
        sa.Column("text_id", sa.Integer, sa.ForeignKey("text.text_id"), nullable=False),
        sa.Column("capture_id", sa.Integer, sa.ForeignKey("capture.capture_id"), nullable=False),
        sa.Column("handle", sa.Text, nullable=False, unique=True),
        sa.Column("added_at", sa.Text, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
    )
    op.create_index("ix_holding_text_id", "holding", ["text_id"])
    op.create_index("ix_holding_site", "holding", ["site"])
    op.create_table(
        "handle",
        sa.Column("handle", sa.Text, primary_key=True),
        sa.Column("library_id", sa.Integer, sa.ForeignKey("library.library_id"), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("text_id", sa.Integer, sa.ForeignKey("text.text_id"), nullable=False),
        sa.Column("capture_id", sa.Integer, sa.ForeignKey("capture.capture_id"), nullable=False),
    )
