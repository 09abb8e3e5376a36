"""Firsthand reads web pages itself, keeps them, and answers with claims that point at exact words in the kept page."""

__version__ = "0.1.0"
