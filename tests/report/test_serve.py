"""The live report: loopback only, rebuilt when an output changes, kept when a rebuild fails."""

from __future__ import annotations

import shutil
import threading
import urllib.error
import urllib.request

from deadpan.report.serve import LiveReport, serve_report


def test_a_changed_manifest_rebuilds_and_a_broken_output_keeps_the_old_site(noise, tmp_path):
    source = shutil.copytree(noise, tmp_path / "in" / "study")
    live = LiveReport([tmp_path / "in"], tmp_path / "site")
    assert not live.refresh()
    shutil.copytree(source, tmp_path / "in" / "second")
    assert live.refresh()
    assert live.version == 1
    assert (tmp_path / "site" / "in-second" / "index.html").exists()
    shutil.rmtree(tmp_path / "in")
    (tmp_path / "in").mkdir()
    assert not live.refresh()
    assert "no manifest" in live.problem
    assert (tmp_path / "site" / "index.html").exists()


def test_it_is_served_on_loopback_with_a_reload_and_nothing_outside_of_it(noise, tmp_path):
    shutil.copytree(noise, tmp_path / "in")
    (tmp_path / "secret.html").write_text("secret")
    stop, address = threading.Event(), []
    ready = threading.Event()

    def tell(site):
        address.append(site.address)
        ready.set()

    thread = threading.Thread(
        target=serve_report,
        args=([tmp_path / "in"], tmp_path / "site"),
        kwargs={"port": 0, "ready": tell, "stop": stop},
    )
    thread.start()
    try:
        assert ready.wait(60)
        assert address[0].startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address[0]) as answer:
            html = answer.read().decode()
        assert "location.reload" in html
        assert "connect-src" in html
        assert "location.reload" not in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
        with urllib.request.urlopen(f"{address[0]}.state") as answer:
            assert answer.read() == b"0"
        try:
            urllib.request.urlopen(f"{address[0]}%2e%2e/secret.html")
            raise AssertionError("a file outside of the site was served")
        except urllib.error.HTTPError as refused:
            assert refused.code == 404
            refused.close()
    finally:
        stop.set()
        thread.join(30)
