"""SURVIVE: journal, ledger, lease."""
