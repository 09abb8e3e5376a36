"""Revisits: by which validator a server confirmed a kept page, and which captures are files that were never fetched."""

import sqlalchemy as sa
from alembic import op

revision = "0004_revisit"
down_revision = "0003_journal"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("capture", sa.Column("validator", sa.Text, nullable=False, server_default=""))
    op.add_column("capture", sa.Column("is_file", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index("ix_capture_requested_url", "capture", ["requested_url"])
    # Until now a file was told from a fetch by its headers alone: its own time, in ISO 8601, and nothing else.
    op.execute(
        """UPDATE capture SET is_file = true WHERE headers LIKE '{"last-modified":"____-__-__T%"}' AND headers NOT LIKE '%","%'"""
    )
