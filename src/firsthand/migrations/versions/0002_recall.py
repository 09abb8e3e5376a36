"""Recall: passages with their terms, how many passages hold each term, and the two full-text indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0002_recall"
down_revision = "0001_keep"
branch_labels = None
depends_on = None

TERM = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")  # code-point order, as SQLite's


def upgrade() -> None:
    op.create_table(
        "page",
        sa.Column("text_id", sa.Integer, sa.ForeignKey("text.text_id"), primary_key=True),
        sa.Column("language", sa.Text),
        sa.Column("title_terms", sa.Text, nullable=False),
        sa.Column("first_passage_id", sa.Integer, nullable=False),
        sa.Column("n_passages", sa.Integer, nullable=False),
    )
    op.create_table(
        "passage",
        sa.Column("passage_id", sa.Integer, primary_key=True),
        sa.Column("text_id", sa.Integer, sa.ForeignKey("page.text_id"), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("headings", sa.Text, nullable=False),
        sa.Column("header", sa.Text),
        sa.Column("caption", sa.Text, nullable=False),
        sa.Column("group_no", sa.Integer, nullable=False),
        sa.Column("lead", sa.Text, nullable=False),
        sa.Column("heading_terms", sa.Text, nullable=False),
        sa.Column("body_terms", sa.Text, nullable=False),
        sa.Column("context_terms", sa.Text, nullable=False),
    )
    op.create_index("ix_passage_text_id", "passage", ["text_id", "seq"])
    op.create_table(
        "term",
        sa.Column("term", TERM, primary_key=True),
        sa.Column("n_passages", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "sqlite":
        # No content of its own: the terms stand in the tables above. The tokenizer "ascii" splits at ASCII white
        # space and signs only, none of which a term holds, and folds nothing beyond A-Z: terms stay what they are.
        op.execute(
            "CREATE VIRTUAL TABLE passage_index USING fts5(title, headings, body, context, content='', tokenize='ascii')"
        )
        op.execute("CREATE VIRTUAL TABLE page_index USING fts5(title, headings, body, content='', tokenize='ascii')")
        op.execute("INSERT INTO passage_index(passage_index, rank) VALUES ('rank', 'bm25(1.0, 1.0, 1.0, 0.5)')")
        op.execute("INSERT INTO page_index(page_index, rank) VALUES ('rank', 'bm25(3.0, 2.0, 1.0)')")
    else:
        for name, key in (("passage_index", "passage_id"), ("page_index", "text_id")):
            op.execute(f"CREATE TABLE {name} ({key} INTEGER PRIMARY KEY, vector TSVECTOR NOT NULL)")
            op.execute(f"CREATE INDEX ix_{name}_vector ON {name} USING gin (vector)")
