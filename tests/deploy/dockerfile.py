"""Carries out a Dockerfile without an engine: each stage is a copy of the clean system, its commands run in it
by chroot.

What is understood is what deploy/docker/Dockerfile uses, with the meaning of the Dockerfile reference; anything
else is an error. BASE is Debian's minimal system as debootstrap makes it, from which docker's
debian:bookworm-slim differs only in that it leaves out documentation.
"""

import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from machine import Folder
from support.sidecar import ROOT


class Stage:
    def __init__(self, name):
        self.name = name
        self.folder = Folder(f"stage-{name}")
        self.arguments, self.environment, self.labels = {}, {}, {}
        self.directory, self.user, self.entrypoint, self.command, self.health = "/", "0", [], [], []

    def variables(self):
        return {**self.arguments, **self.environment}

    def expand(self, text):
        return re.sub(r"\$\{(\w+)\}", lambda match: self.variables().get(match.group(1), ""), text)


class Image:
    """The last stage of a Dockerfile; use it as a context manager, since the stages are folders."""

    def __init__(self, file, arguments, cache):
        self.arguments, self.cache, self.stages = arguments, cache, {}
        self.file = file

    def __enter__(self):
        try:
            for word, rest in instructions(self.file.read_text()):
                self._carry_out(word, rest)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for stage in self.stages.values():
            stage.folder.__exit__()

    @property
    def last(self):
        return list(self.stages.values())[-1]

    def _carry_out(self, word, rest):
        if word == "FROM":
            assert re.fullmatch(r"\$\{BASE\} AS \w+", rest), rest
            name = rest.rsplit(" ", 1)[1]
            self.stages[name] = Stage(name)
        elif word == "ARG":
            name, _, default = rest.partition("=")
            if self.stages:
                self.last.arguments[name] = self.arguments.get(name, default)
        else:
            getattr(self, f"_{word.lower()}")(self.last, rest)

    def _copy(self, stage, rest):
        words = rest.split()
        source = ROOT
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0).removeprefix("--from=")].folder.path
        *names, target = words
        for name in names:
            source_path, into = source / name.lstrip("/"), stage.folder.path / target.lstrip("/")
            into.mkdir(parents=True, exist_ok=True)
            if source_path.is_dir():
                shutil.copytree(
                    source_path,
                    into,
                    dirs_exist_ok=True,
                    symlinks=True,
                    ignore=left_out if source == ROOT else None,
                )
            else:
                assert source != ROOT or not is_left_out(source_path), f"{name} is in .dockerignore"
                shutil.copy(source_path, into)

    def _run(self, stage, rest):
        bind = ("", "")
        if rest.startswith("--mount=type=cache,target="):
            mount, rest = rest.split(" ", 1)
            bind = (self.cache, mount.rsplit("=", 1)[1])
        environment = {**stage.variables(), "CCACHE_BASEDIR": "/src", "CCACHE_NOHASHDIR": "1"}
        stage.folder.run(
            "sh", "-c", f"cd {shlex.quote(stage.directory)} && {rest}", environment=environment, bind=bind
        )

    def _workdir(self, stage, rest):
        stage.directory = rest
        (stage.folder.path / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _env(self, stage, rest):
        name, _, value = rest.partition("=")
        stage.environment[name] = value

    def _label(self, stage, rest):
        for pair in shlex.split(rest):
            name, _, value = pair.partition("=")
            stage.labels[name] = stage.expand(value)

    def _user(self, stage, rest):
        stage.user = rest

    def _entrypoint(self, stage, rest):
        stage.entrypoint = json.loads(rest)

    def _cmd(self, stage, rest):
        stage.command = json.loads(rest)

    def _healthcheck(self, stage, rest):
        stage.health = json.loads(rest[rest.index("CMD") + 3 :])

    def _expose(self, stage, rest):
        stage.ports = rest.split()

    def _stopsignal(self, stage, rest):
        stage.signal = rest


def instructions(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, rest = line.split(" ", 1)
        yield word, re.sub(r" {2,}", " ", rest.strip())


def is_left_out(path):
    """.dockerignore: the last line that matches decides."""
    relative = pathlib.PurePosixPath(os.path.relpath(path, ROOT))
    out = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.lstrip("!")
        if not pattern or line.startswith("#"):
            continue
        candidates = [relative, *relative.parents]
        if any(matches(str(each), pattern) for each in candidates if str(each) != "."):
            out = not line.startswith("!")
    return out


def matches(path, pattern):
    if pattern.startswith("**/"):
        return fnmatch.fnmatch(path.rsplit("/", 1)[-1], pattern[3:])
    return path.count("/") == pattern.count("/") and fnmatch.fnmatch(path, pattern)


def left_out(folder, names):
    return [name for name in names if is_left_out(pathlib.Path(folder) / name)]


def size_of(folder):
    """Bytes on disk, as `du` counts them."""
    done = subprocess.run(["du", "-sxb", folder], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0])
