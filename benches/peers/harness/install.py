"""Brings each peer and its driver into `build/` with the ordinary client of its registry, once."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BUILD = HERE / "build"


class Unavailable(Exception):
    """A peer that cannot be had here; the text says why and what is missing."""


def need(tool, package):
    """The path of a program, or a sentence that names the package that has it."""
    path = shutil.which(tool)
    if path is None:
        raise Unavailable(f"there is no `{tool}` here (Debian and Ubuntu: package {package})")
    return path


def is_fresh(peer, sources):
    """Whether what stands in `build/` was made from these very files; the stamp of the present ones."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    stamp = BUILD / f"{peer}.stamp"
    return stamp.exists() and stamp.read_text() == digest.hexdigest(), digest.hexdigest()


def carry_out(peer, commands):
    """Runs the steps of an installation; their output goes to a log that is shown only if one fails."""
    log = BUILD / f"{peer}.log"
    print(f"installing {peer} (log: {log}) …", file=sys.stderr)
    with log.open("w") as out:
        for command in commands:
            out.write(f"$ {' '.join(map(str, command))}\n")
            out.flush()
            if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=HERE).returncode != 0:
                raise Unavailable(f"`{' '.join(map(str, command))}` failed; the end of {log}:\n{tail(log)}")


def tail(log, lines=6):
    text = log.read_text(errors="replace").strip().splitlines()
    return "\n".join(f"    {line}" for line in text[-lines:])


def once(peer, sources, commands):
    """Installs unless that was done from the same sources before."""
    BUILD.mkdir(exist_ok=True)
    fresh, stamp = is_fresh(peer, sources)
    if not fresh:
        carry_out(peer, commands)
        (BUILD / f"{peer}.stamp").write_text(stamp)


def ssj():
    """The command of the SSJ driver."""
    java = need("java", "default-jdk-headless")
    need("javac", "default-jdk-headless")
    maven = need("mvn", "maven")
    target = BUILD / "ssj"
    sources = [HERE / "ssj/pom.xml", *(HERE / "ssj/src").rglob("*.java")]
    goals = ["clean", "package", "dependency:copy-dependencies", f"-DoutputDirectory={target / 'lib'}"]
    once("ssj", sources, [[maven, "-q", "-B", "-f", HERE / "ssj/pom.xml", *goals]])
    # One core, hardly any garbage: the serial collector is the cheapest.
    return [java, "-XX:+UseSerialGC", "-cp", f"{target / 'peers-ssj-1.jar'}:{target / 'lib'}/*", "Main"]


def python(peer):
    """The command of a Python driver, in an environment of its own."""
    environment = BUILD / f"{peer}-venv"
    requirements = HERE / peer / "requirements.txt"
    interpreter = environment / "bin/python"
    once(
        peer,
        [requirements],
        [
            [sys.executable, "-m", "venv", "--clear", environment],
            [interpreter, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", requirements],
        ],
    )
    return [interpreter, HERE / peer / "mm16.py"]


def nexosim():
    """The command of the nexosim driver."""
    cargo = need("cargo", "rustup or cargo, Rust 1.88 or later")
    sources = [HERE / "nexosim/Cargo.toml", HERE / "nexosim/Cargo.lock", *(HERE / "nexosim/src").glob("*.rs")]
    target = BUILD / "nexosim"
    manifest = HERE / "nexosim/Cargo.toml"
    once("nexosim", sources, [
        [cargo, "build", "-q", "--release", "--locked", "--manifest-path", manifest, "--target-dir", target]
    ])
    return [target / "release/peers-nexosim"]
