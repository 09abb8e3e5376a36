"""Certificates that tests sign themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path


def certificate_for(name: str, folder: Path) -> tuple[Path, Path]:
    """The files of a certificate for the host *name* and of its key, made in *folder*."""
    pem, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    command += ["-addext", f"subjectAltName=DNS:{name}", "-keyout", str(key), "-out", str(pem)]
    subprocess.run(command, check=True, capture_output=True)
    return pem, key
