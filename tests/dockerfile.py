"""The steps of a Dockerfile, taken in a plain folder: the same commands, folders, environment and user, without an engine.

What it cannot show is the engine's own part: layers, the base image's packages, the network of a container.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

USER = 10001


@dataclass
class Built:
    """What the last stage came to."""

    root: Path
    """The folder that stands for ``/``."""
    environment: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    user: str | None = None
    workdir: str = "/"

    def here(self, text: str) -> str:
        """A command or a path of the container, as it is called in this folder."""
        return text.replace("/app", f"{self.root}/app")

    @property
    def rights(self) -> dict[str, int]:
        """What a process is started with, to have the container's user; only root can hand them on."""
        return {"user": int(self.user), "group": int(self.user)} if self.user and os.geteuid() == 0 else {}


def read_steps(text: str) -> list[tuple[str, str]]:
    """The instructions, in order, with their lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines()]


def python_for(user: int) -> str:
    """A Python 3.11 that the container's user may run as well."""
    for candidate in (sys._base_executable, "/usr/bin/python3.11", "/usr/local/bin/python3.11", "/usr/bin/python3"):  # type: ignore[attr-defined]
        rights = {"user": user, "group": user} if os.geteuid() == 0 else {}
        try:
            check = "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))"
            if subprocess.run([candidate, "-c", check], cwd="/", capture_output=True, check=False, **rights).returncode == 0:  # type: ignore[call-overload]
                return str(candidate)
        except OSError:
            continue
    raise AssertionError("there is no Python 3.11 here that another user may run")


def build(project: Path, root: Path) -> Built:
    """Take every step of the project's Dockerfile below ``root``."""
    tools = root / "tools"
    tools.mkdir()
    (tools / "python").symlink_to(python_for(USER))
    # The account itself is not made: its number is all that rights are about.
    (tools / "useradd").write_text("#!/bin/sh\nexit 0\n")
    (tools / "useradd").chmod(0o755)
    stages: dict[str, Path] = {}
    built = Built(root)
    name = ""
    for instruction, rest in read_steps((project / "Dockerfile").read_text()):
        if instruction == "FROM":
            if name:
                stages[name] = root / f"stage-{name}"
                (root / "app").rename(stages[name])
            name = rest.partition(" AS ")[2]
            assert rest.startswith("python:3.11-slim")
            built = Built(root, {"PATH": f"{tools}:{os.environ['PATH']}"} | _index_settings())
        elif instruction == "WORKDIR":
            built.workdir = rest
            Path(built.here(rest)).mkdir(parents=True, exist_ok=True)
        elif instruction == "ENV":
            for pair in shlex.split(rest):
                key, _, value = pair.partition("=")
                built.environment[key] = built.here(value).replace("$PATH", built.environment["PATH"])
        elif instruction == "COPY":
            _copy(project, stages, built, shlex.split(rest))
        elif instruction == "RUN":
            folder = built.here(built.workdir)
            done = subprocess.run(
                ["sh", "-c", built.here(rest)], cwd=folder, env=built.environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
        elif instruction == "USER":
            built.user = rest
        elif instruction == "CMD":
            built.command = json.loads(rest)
        elif instruction == "HEALTHCHECK":
            built.health = json.loads(rest.partition("CMD ")[2])
        else:
            assert instruction in ("EXPOSE", "VOLUME"), instruction
    return built


def _copy(project: Path, stages: dict[str, Path], built: Built, words: list[str]) -> None:
    if words[0].startswith("--from="):
        stage = stages[words.pop(0).removeprefix("--from=")]
        words = [str(stage / words[0].removeprefix("/app/")), words[1]]
    target = Path(built.here(built.workdir)) / words[-1]
    left_out = shutil.ignore_patterns("__pycache__")  # as .dockerignore says
    for word in words[:-1]:
        source = project / word
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=left_out)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _index_settings() -> dict[str, str]:
    """Where packages come from on this machine, which a container's builder would be told in its own way."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.lower().endswith("_proxy")}
    return settings | ({"HOME": os.environ["HOME"]} if "HOME" in os.environ else {})
