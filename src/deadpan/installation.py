"""The installation: versions, extras, models and programs, with the command that adds a missing one."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from deadpan.errors import pip_install
from deadpan.models import MODELS, cache_root, installed
from deadpan.page import Summary, Table
from deadpan.results import Result

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "train": (("sklearn",), "training and comparing detectors, audits of corpora"),
    "parquet": (("pyarrow",), "Parquet files, the SARC corpus, GloVe vectors"),
    "llm": (("openai", "genai_prices", "xllamacpp", "tokenizers"), "language models: endpoints and the embedded one"),
    "plots": (("matplotlib",), "plots"),
    "neural": (("torch", "transformers", "accelerate", "peft"), "neural and fine-tuned detectors"),
    "corpus": (("duckdb", "narwhals", "pyarrow"), "a SARC corpus from Reddit dumps"),
    "spark": (("pyspark",), "the corpus engine on a cluster"),
    "generate": (("profanity_check",), "the toxicity filter for English"),
    "bench": (("cryptography",), "sealed sets of the benchmark"),
    "inspect": (("inspect_ai",), "the benchmark as a task of Inspect"),
    "studio": (("django", "argon2", "whitenoise", "csp", "gunicorn", "psycopg"), "the web app"),
    "ko": (("kiwipiepy",), "Korean morphology"),
    "excel": (("openpyxl",), "Excel tables"),
    "onnx": (("onnx", "onnxruntime", "onnxscript"), "the encoder in 8 bits, several times as fast"),
    "cloud": (("fsspec", "s3fs"), "dumps and corpora in object storage"),
    "serve": (("litestar", "uvicorn"), "the playground and the HTTP service"),
}
CORE = ("click", "msgspec", "numpy", "orjson", "rich")
LINE = 80
PROGRAMS = {
    "zstd": ("synthetic dumps", "apt-get install zstd"),
    "java": ("Spark", "apt-get install default-jre-headless"),
    "chromium": ("tests of web pages", "apt-get install chromium fonts-nanum"),
}


@dataclass(frozen=True, slots=True)
class Fixes(Result):
    """Commands that add what is missing, to copy into a shell."""

    commands: tuple[str, ...]

    def summary(self) -> Summary:
        if not self.commands:
            return Summary(notes=("Nothing is missing.",))
        lines = [line for command in self.commands for line in _continued(command)]
        return Summary(notes=("# Nothing was run: copy what you want.", *lines))

    def as_dict(self) -> dict[str, object]:
        return {"commands": list(self.commands)}


@dataclass(frozen=True, slots=True)
class Installation(Result):
    """Installed and missing parts."""

    versions: dict[str, str]
    extras: dict[str, list[str]]
    """The missing libraries of each extra."""
    models: dict[str, Path | None]
    programs: dict[str, str | None]
    cache: Path
    free_bytes: int

    def summary(self) -> Summary:
        parts = [(f"extra {name}", EXTRAS[name][1], not missing, "missing")
                 for name, missing in self.extras.items()]  # fmt: skip
        parts += [(f"model {name}", MODELS[name].about, path is not None, f"deadpan models pull {name}")
                  for name, path in self.models.items()]  # fmt: skip
        parts += [(f"program {name}", PROGRAMS[name][0], path is not None, PROGRAMS[name][1])
                  for name, path in self.programs.items()]  # fmt: skip
        rows = tuple((part, use, "installed" if here else hint) for part, use, here, hint in parts)
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        disk = f"Cache: {self.cache}, {self.free_bytes / 1e9:.0f} GB free"
        fix = ("Commands that add what is missing: deadpan doctor --fix",) if self.fixes().commands else ()
        return Summary((Table(("part", "for", "state"), rows),), (f"Versions: {versions}", disk, *fix))

    def fixes(self) -> Fixes:
        """Return one pip command for all missing extras, one pull per missing model, one line per program."""
        missing = [name for name, libraries in self.extras.items() if libraries]
        commands = []
        if missing:
            commands.append(pip_install(*missing, pip=f"{shlex.quote(sys.executable)} -m pip"))
        commands += [f"deadpan models pull {name}" for name, path in self.models.items() if path is None]
        commands += [PROGRAMS[name][1] for name, path in self.programs.items() if path is None]
        return Fixes(tuple(commands))

    def as_dict(self) -> dict[str, object]:
        return {
            "versions": self.versions,
            "executable": sys.executable,
            "extras": {name: {"missing": missing} for name, missing in self.extras.items()},
            "models": {name: str(path) if path else None for name, path in self.models.items()},
            "programs": self.programs,
            "cache": str(self.cache),
            "free_bytes": self.free_bytes,
        }


def check_installation() -> Installation:
    """Look up every optional part without importing any."""
    here = installed()
    core = {"deadpan": metadata.version("deadpan"), "python": platform.python_version()}
    return Installation(
        versions=core | {name: metadata.version(name) for name in CORE},
        extras={name: [lib for lib in libs if not _is_here(lib)] for name, (libs, _) in EXTRAS.items()},
        models={name: here.get(name) for name in MODELS},
        programs={name: shutil.which(name) for name in PROGRAMS},
        cache=cache_root(),
        free_bytes=shutil.disk_usage(_existing(cache_root())).free,
    )


def _is_here(library: str) -> bool:
    return find_spec(library) is not None


def _continued(command: str) -> tuple[str, ...]:
    """Return a long command as lines that a shell reads as one, so that it can still be copied."""
    if len(command) <= LINE:
        return (command,)
    first, *words = (shlex.quote(word) for word in shlex.split(command))
    lines = [first]
    for word in words:
        if len(f"{lines[-1]} {word} \\") <= LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}")
    return (*(f"{line} \\" for line in lines[:-1]), lines[-1])


def _existing(path: Path) -> Path:
    """Return the nearest existing folder, whose disk would be written to."""
    return path if path.exists() else _existing(path.parent)
