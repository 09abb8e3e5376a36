"""ANSWER: from a question to a cited answer, seeing the world only through ports."""
