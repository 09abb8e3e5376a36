"""KEEP and CHECK: snapshots, texts, passages, quotes, verdicts."""
