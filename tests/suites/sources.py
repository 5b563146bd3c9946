"""PostgreSQL's own suites: SQL, specs and expected files from Debian's source package, programs from its
packages.

The source package is got from the machine's own Debian mirror and kept under build/ (another place:
$LEDGERGATE_SUITES_CACHE). Its minor version may be older than the server's; then a few expected files differ
on a direct connection too. Only what Debian does not ship is compiled: the module regress.so and the program
libpq_pipeline.
"""

import dataclasses
import os
import pathlib
import subprocess

from support.processes import account

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAJOR = 15
PROGRAMS = pathlib.Path(f"/usr/lib/postgresql/{MAJOR}")
PGXS = PROGRAMS / "lib/pgxs/src/test"
PARTS = ("src/test/regress", "src/test/isolation", "src/test/modules/libpq_pipeline")


@dataclasses.dataclass(frozen=True)
class Sources:
    version: str
    tests: pathlib.Path  # the folder src/test
    regress_module: pathlib.Path
    libpq_pipeline: pathlib.Path
    pg_regress: pathlib.Path = PGXS / "regress/pg_regress"
    pg_isolation_regress: pathlib.Path = PGXS / "isolation/pg_isolation_regress"


def prepare():
    cache = _cache_folder()
    trees = sorted(cache.glob(f"postgresql-{MAJOR}.*/src/test/modules/libpq_pipeline"))
    if not trees:
        _unpack(_download(cache), cache)
        trees = sorted(cache.glob(f"postgresql-{MAJOR}.*/src/test/modules/libpq_pipeline"))
    tree = trees[-1].parents[3]
    return Sources(
        version=tree.name.removeprefix("postgresql-"),
        tests=tree / "src/test",
        regress_module=_compile_module(tree),
        libpq_pipeline=_compile_pipeline(tree),
    )


def _cache_folder():
    """A folder that the server's account can read: it loads the module and reads the data files itself."""
    folder = pathlib.Path(os.environ.get("LEDGERGATE_SUITES_CACHE", ROOT / "build/postgresql-suites"))
    folder.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["test", "-x", str(folder)], check=False, **account("postgres")).returncode != 0:
        folder = pathlib.Path("/var/tmp/ledgergate-postgresql-suites")
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _download(cache):
    """The source archive of the newest version that the mirror still has: not every listed one may be
    there."""
    state = cache / "apt"
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    mirrors = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    (state / "sources.list").write_text(
        "".join(f"deb-src {mirror} {suite} main\n" for mirror, suite in _mirrors(mirrors))
    )
    options = []
    for key, value in (
        ("Dir::Etc::sourcelist", state / "sources.list"),
        ("Dir::Etc::sourceparts", "-"),
        ("Dir::State::lists", state / "lists"),
        ("Dir::Cache", state),
        ("APT::Sandbox::User", "root"),
        ("Acquire::Check-Valid-Until", "false"),
    ):
        options += ["-o", f"{key}={value}"]
    subprocess.run(["apt-get", *options, "-qq", "update"], check=True, stdout=subprocess.DEVNULL)
    package = f"postgresql-{MAJOR}"
    known = subprocess.run(
        ["apt-cache", *options, "showsrc", "--only-source", package],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    versions = [line.split()[1] for line in known.splitlines() if line.startswith("Version:")]
    versions.sort(key=lambda version: int(version.split(".")[1].split("-")[0]), reverse=True)
    for version in versions:
        command = [
            "apt-get",
            *options,
            "-qq",
            "--only-source",
            "source",
            "--download-only",
            f"{package}={version}",
        ]
        if subprocess.run(command, check=False, cwd=cache, stderr=subprocess.DEVNULL).returncode == 0:
            return cache / f"{package}_{version.split('-')[0]}.orig.tar.bz2"
    raise RuntimeError(f"the mirror has no source of {package}; it lists {versions}")


def _mirrors(listing):
    seen = {tuple(line.split()) for line in listing.splitlines() if len(line.split()) == 2}
    return sorted(seen)


def _unpack(archive, cache):
    tree = "postgresql-" + archive.name.removesuffix(".orig.tar.bz2").split("_")[1]
    subprocess.run(
        [
            "tar",
            "xjf",
            str(archive),
            "-C",
            str(cache),
            "--no-same-owner",
            *(f"{tree}/{part}" for part in PARTS),
        ],
        check=True,
    )


def _compile_module(tree):
    target = tree / "lib/regress.so"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        include = f"-I/usr/include/postgresql/{MAJOR}/server"
        _compile(
            "-O1", "-fPIC", "-shared", include, str(tree / "src/test/regress/regress.c"), "-o", str(target)
        )
    return target


def _compile_pipeline(tree):
    target = tree / "lib/libpq_pipeline"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        includes = [f"-I/usr/include/postgresql/{folder}" for folder in (f"{MAJOR}/server", "internal")] + [
            "-I/usr/include/postgresql"
        ]
        source = tree / "src/test/modules/libpq_pipeline/libpq_pipeline.c"
        libraries = [f"-L{PROGRAMS}/lib", "-lpq", "-lpgcommon", "-lpgport"]
        _compile("-O1", *includes, str(source), "-o", str(target), *libraries)
    return target


def _compile(*arguments):
    subprocess.run(["gcc", *arguments], check=True)
