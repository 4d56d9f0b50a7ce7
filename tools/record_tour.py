"""Records the run of the generation pipeline that the tour shows (src/deadpan/tour/recorded.json).

deadpan generate run plan.toml --out run && .venv/bin/python tools/record_tour.py run
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from deadpan.generate.folder import GenerationFolder
from deadpan.generate.plan import STEP_NAMES
from deadpan.storage import read_json, write_json
from deadpan.validation import encode

TARGET = Path(__file__).parent.parent / "src" / "deadpan" / "tour" / "recorded.json"

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    run = GenerationFolder(folder)
    model = read_json(folder / "manifest.json")["config"].get("model", "")
    recorded = {
        "model": model, "date": datetime.now(UTC).date().isoformat(), "command": "tools/record_tour.py",
        "read": len(list(run.drafts("source"))),
        "kept": [encode(draft) for draft in run.drafts(run.last())],
        "dropped": [encode(one) for name in STEP_NAMES if run.manifest(name) for one in run.dropped(name)],
    }  # fmt: skip
    write_json(TARGET, recorded)
