"""Shared helpers: arrays, argument checks, wording, temporary files and statistics."""
