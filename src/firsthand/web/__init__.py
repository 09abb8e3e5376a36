"""REACH: everything that brings bytes from outside, and what they say."""
