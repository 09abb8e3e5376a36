"""Passages: by which rule a text was cut into them, and which of them stand beside the main content."""

import sqlalchemy as sa
from alembic import op

revision = "0006_passages"
down_revision = "0005_sheet"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("page", sa.Column("passages_version", sa.Integer, nullable=False, server_default="1"))
    op.add_column("passage", sa.Column("is_main", sa.Boolean, nullable=False, server_default=sa.true()))
