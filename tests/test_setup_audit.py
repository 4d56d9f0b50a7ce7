"""make audit: a fault is said and fails; a database that cannot be reached is said and does not."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOUND = {"name": "a", "version": "1", "vulns": []}
FAULTY = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


def audit(tmp_path: Path, answer: object) -> subprocess.CompletedProcess[str]:
    """Run the script with a pip-audit that answers this, or that finds no network."""
    said = f"open(argv[argv.index('--output') + 1], 'w').write({json.dumps(answer)!r})"
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/usr/bin/env python3\nfrom sys import argv\n{said if answer else 'exit(1)'}\n", "utf-8")
    program.chmod(0o755)
    env = {**os.environ, "PIP_AUDIT": str(program)}
    return subprocess.run([ROOT / "tools/audit.sh", "--given"], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("dependencies", "status", "says"),
    [
        ([SOUND, SOUND], 0, "2 of 2 pinned packages checked, 0 with known faults"),
        ([SOUND, FAULTY], 1, "b 2: PYSEC-1; fixed in: 2.1"),
        ([SOUND, UNKNOWN], 0, "1 not in the database"),
        # pip-audit itself calls this a success: it found no fault in nothing.
        ([UNKNOWN, UNKNOWN], 0, "not checked: no advisory database can be reached"),
        (None, 0, "not checked: no advisory database can be reached"),
    ],
)
def test_the_audit_says_what_it_checked(tmp_path, dependencies, status, says):
    ran = audit(tmp_path, {"dependencies": dependencies} if dependencies else None)
    assert ran.returncode == status and says in ran.stdout, ran.stdout + ran.stderr


def test_only_exact_versions_are_pinned():
    """What is not pinned exactly is not checked."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#") and "==" not in line] == []
