"""Python imports this by itself at its start when the folder is on PYTHONPATH: children of the tests watch themselves."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

importlib.import_module("socket_watch").install()

# The sitecustomize that this one stands before, a test's own or the system's, does its work too.
here = Path(__file__).parent
others = [entry for entry in sys.path if Path(entry or ".").resolve() != here.resolve()]
spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
if spec is not None and spec.loader is not None:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
