"""The journal: appended records survive a kill, are found by key, and a bad file is one line."""

from __future__ import annotations

import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import DataError
from deadpan.journal import PAGE, Journal


def test_a_final_record_is_found_by_its_key_and_others_are_history(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        journal.append("a", {"error": "busy"}, final=False)
        assert journal.find("a") is None
        journal.append("a", {"text": "yes"}, paid=0.25)
        journal.append("b", {"text": "no"}, paid=0.000_000_125)
        assert journal.find("a") == {"text": "yes"}
        assert len(journal) == 2
        assert journal.paid == 0.250_000_125
    with Journal(tmp_path / "j.sqlite") as again:
        assert list(again.records()) == [("a", {"error": "busy"}), ("a", {"text": "yes"}), ("b", {"text": "no"})]


def test_an_empty_journal_is_true(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        assert journal
        assert len(journal) == 0
        assert (journal.paid, list(journal.records())) == (0.0, [])


def test_many_records_are_read_in_pages_and_in_order(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        for number in range(2 * PAGE + 1):
            journal.append(str(number), {"n": number})
        assert [record["n"] for _, record in journal.records()] == list(range(2 * PAGE + 1))


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.text(max_size=5), st.text() | st.integers(-9, 9) | st.none(), max_size=4))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, record: dict[str, str]) -> None:
    with Journal(tmp_path_factory.mktemp("j") / "j.sqlite") as journal:
        journal.append("k", {**record, "half": "\ud83d", "nul": "\0"})
        assert journal.find("k") == {**record, "half": "\ud83d", "nul": "\0"}


def test_threads_share_it(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:

        def work(name: int) -> None:
            for number in range(50):
                journal.append(f"{name}-{number}", {}, paid=0.01)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(journal), journal.paid) == (200, 2.0)


def test_a_kill_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from deadpan.journal import Journal
journal = Journal(Path({str(tmp_path / "j.sqlite")!r}))
for number in range(100):
    journal.append(str(number), {{"n": number}}, paid=0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    with Journal(tmp_path / "j.sqlite") as journal:
        assert (len(journal), journal.paid) == (100, 50.0)


def test_a_private_journal_is_for_its_owner(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite", private=True) as journal:
        journal.append("a", {})
        modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o600}


@pytest.mark.parametrize("content", [b"not a database at all" * 50, b"SQLite format 3\0" + b"\xff" * 600])
def test_a_file_that_is_no_journal_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "j.sqlite"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"j\.sqlite.*move it away") as caught:
        Journal(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_damaged_record_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        journal.append("a", {})
        with sqlite3.connect(journal.path) as other:
            other.execute("UPDATE entries SET record = '['")
        other.close()
        with pytest.raises(DataError, match="a record is damaged"):
            journal.find("a")
    with pytest.raises(DataError, match="unable to open"):
        Journal(tmp_path / "absent" / "j.sqlite")


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        journal._db.execute("PRAGMA max_page_count = 4")
        with pytest.raises(DataError, match="disk may be full: free space and resume"):
            for number in range(1000):
                journal.append(str(number), {"text": "x" * 1000})
        journal._db.execute("PRAGMA max_page_count = 100000")
        assert len(journal) == number
