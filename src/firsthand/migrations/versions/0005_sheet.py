"""What else a text says: where its links stand, what its facts rest on, and what of the page no reader sees."""

import sqlalchemy as sa
from alembic import op

revision = "0005_sheet"
down_revision = "0004_revisit"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The rows that are there stay as they are, and so do their digests: they are of format 1, which had none of these.
    op.add_column("text", sa.Column("sheet_format", sa.Integer, nullable=False, server_default="1"))
    op.add_column("text", sa.Column("anchors", sa.Text))
    op.add_column("text", sa.Column("fact_sources", sa.Text))
    op.add_column("text", sa.Column("hidden", sa.Text))
    op.add_column("text", sa.Column("n_invisible", sa.Integer))
