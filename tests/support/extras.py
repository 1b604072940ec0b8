"""Tests that need what an extra of fedkg installs."""

import importlib.util

import pytest

__all__ = ["needs"]


def needs(extra: str, module: str) -> pytest.MarkDecorator:
    """Skips a test, or as `pytestmark` those of a file, where the extra is not installed; nothing is imported."""
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"needs fedkg[{extra}]")
