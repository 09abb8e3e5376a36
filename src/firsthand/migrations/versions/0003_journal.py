"""The journal: leases, sessions, turns, runs, events, receipts, charges, answers."""

import sqlalchemy as sa
from alembic import op

revision = "0003_journal"
down_revision = "0002_recall"
branch_labels = None
depends_on = None

RUNNING = sa.text("state = 'running'")


def upgrade() -> None:
    op.create_table(
        "lease",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("pid_started", sa.Text, nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_monotonic_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "session",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("created_at", sa.Text, nullable=False),
    )
    op.create_table(
        "turn",
        sa.Column("turn_id", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, sa.ForeignKey("session.session_id"), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("options_key", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("finished_at", sa.Text),
        sa.Column("answer_id", sa.Text),
        sa.Column("is_awaited", sa.Boolean, nullable=False, server_default=sa.false()),
    )
    op.create_index("ix_turn_session", "turn", ["session_id", "created_at"])
    op.create_index(
        "ix_turn_unfinished",
        "turn",
        ["session_id", "options_key"],
        unique=True,
        sqlite_where=RUNNING,
        postgresql_where=RUNNING,
    )
    op.create_table(
        "run",
        sa.Column("turn_id", sa.Text, sa.ForeignKey("turn.turn_id"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("started_at", sa.Text, nullable=False),
        sa.Column("ended_at", sa.Text),
        sa.Column("fence", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "event",
        sa.Column("turn_id", sa.Text, sa.ForeignKey("turn.turn_id"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.UniqueConstraint("turn_id", "key", name="uq_event_key"),
    )
    op.create_table(
        "receipt",
        sa.Column("turn_id", sa.Text, sa.ForeignKey("turn.turn_id"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("occurrence", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("paid", sa.Boolean, nullable=False),
        sa.Column("run_n", sa.Integer, nullable=False),
        sa.Column("result", sa.JSON),
        sa.Column("begun_at", sa.Text, nullable=False),
        sa.Column("settled_at", sa.Text),
        sa.Column("cost_microusd", sa.BigInteger, nullable=False),
        sa.Column("decided_by", sa.Text),
    )
    op.create_table(
        "charge",
        sa.Column("turn_id", sa.Text, primary_key=True),
        sa.Column("receipt_key", sa.Text, primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("calls", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("cost_microusd", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id", "receipt_key"], ["receipt.turn_id", "receipt.key"], name="fk_charge_receipt"
        ),
    )
    op.create_table(
        "answer",
        sa.Column("answer_id", sa.Text, primary_key=True),
        sa.Column("turn_id", sa.Text, sa.ForeignKey("turn.turn_id"), nullable=False, unique=True),
        sa.Column("session_id", sa.Text, sa.ForeignKey("session.session_id"), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
    )
    op.create_index("ix_answer_session", "answer", ["session_id", "created_at"])
