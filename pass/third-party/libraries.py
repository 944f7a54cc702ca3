"""Libraries that others wrote, for the test and the bench of the probe pass: which sources, and how they are built.

The sources come from crates that bring C and C++ along; cargo fetches them, in the versions of the lock file beside, and
says where they are. Nothing of them is in this repository: the programs that call them are.
"""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PASS = HERE.parent
CARGO = os.environ.get("CARGO", "cargo")
LLVM = "22"


@dataclass
class Library:
    name: str
    crate: str
    #: Where its sources are in the crate, and which: glob patterns, or "@" and a file that lists them.
    root: str
    sources: list
    program: str
    checksum: str
    """What its program prints at 100 percent."""
    flags: list = field(default_factory=list)
    include: list = field(default_factory=list)
    without: tuple = ()
    libraries: list = field(default_factory=list)
    manifest: str = "Cargo.toml"
    #: A list of pass/lists that it needs to be safe.
    exclude: str = ""
    #: How many sources are compiled as one: what they all include is then read once.
    together: int = 1

    def directory(self):
        return crates(self.manifest)[self.crate] / self.root

    def files(self):
        root = self.directory()
        found = [file for pattern in self.sources for file in _matching(root, pattern)]
        return [file for file in found if not any(word in str(file) for word in self.without)]

    def includes(self):
        return [f"-I{self.directory() / path}" for path in self.include]

    def is_cpp(self):
        return self.program.endswith(".cpp")


SQLITE = Library(
    name="sqlite",
    crate="libsqlite3-sys",
    root="sqlite3",
    sources=["sqlite3.c"],
    include=["."],
    flags=[f"-DSQLITE_{name}" for name in (
        "THREADSAFE=1", "USE_URI", "ENABLE_STAT4", "ENABLE_COLUMN_METADATA", "ENABLE_DBSTAT_VTAB", "ENABLE_FTS3",
        "ENABLE_FTS3_PARENTHESIS", "ENABLE_FTS5", "ENABLE_RTREE")] + ["-DHAVE_USLEEP=1", "-DHAVE_ISNAN"],
    program="sqlite.c",
    checksum="38983f387ffc2135",
    libraries=["-lm"],
)
ZSTD = Library(
    name="zstd",
    crate="zstd-sys",
    root="zstd/lib",
    sources=["common/*.c", "compress/*.c", "decompress/*.c"],
    include=["."],
    # Its decoder in assembly has no probes, and takes as long as a block is.
    flags=["-DZSTD_DISABLE_ASM=1"],
    program="zstd.c",
    checksum="73a49bcf25588682",
)
LEVELDB = Library(
    name="leveldb",
    crate="leveldb-sys",
    root="deps/leveldb-1.22",
    sources=["db/*.cc", "table/*.cc", "util/*.cc", "helpers/memenv/memenv.cc"],
    without=("_test.cc", "_bench.cc", "leveldbutil", "windows", "testutil", "testharness", "fault_injection"),
    include=[".", "include"],
    flags=["-DNDEBUG", "-DLEVELDB_PLATFORM_POSIX=1", "-DLEVELDB_IS_BIG_ENDIAN=0", "-DHAVE_FDATASYNC=1", "-DHAVE_FULLFSYNC=0",
           "-DHAVE_CRC32C=0", "-DHAVE_SNAPPY=0"],
    program="leveldb.cpp",
    checksum="823e09834e4a6574",
    libraries=["-pthread"],
)
ROCKSDB = Library(
    name="rocksdb",
    crate="librocksdb-sys",
    root="rocksdb",
    sources=["@../rocksdb_lib_sources.txt", "../build_version.cc"],
    # The crate has the one that says which version it is.
    without=("util/build_version.cc",),
    include=[".", "include", ".."],
    flags=["-std=c++20", "-include", "cstdint", "-msse4.2", "-mpclmul", "-DNDEBUG", "-DHAVE_ALIGNED_NEW",
           "-DHAVE_UINT128_EXTENSION", "-DOS_LINUX"] + [f"-DROCKSDB_{name}" for name in (
               "PLATFORM_POSIX", "LIB_IO_POSIX", "SCHED_GETCPU_PRESENT", "AUXV_GETAUXVAL_PRESENT", "FALLOCATE_PRESENT",
               "RANGESYNC_PRESENT")],
    program="rocksdb.cpp",
    checksum="106a17e34e5692c5",
    libraries=["-pthread", "-ldl"],
    manifest="rocksdb/Cargo.toml",
    exclude="rocksdb.txt",
    together=14,
)
TESTED = [SQLITE, ZSTD, LEVELDB]
MEASURED = [*TESTED, ROCKSDB]

_crates = {}


def crates(manifest):
    """Crates by name, and where their sources are; fetches those that are not there yet."""
    if manifest not in _crates:
        where = ["--locked", "--manifest-path", str(HERE / manifest)]
        subprocess.run([CARGO, "fetch", "--quiet", *where], check=True)
        said = subprocess.run([CARGO, "metadata", "--offline", "--format-version", "1", *where], check=True,
                              stdout=subprocess.PIPE).stdout
        _crates[manifest] = {package["name"]: Path(package["manifest_path"]).parent
                             for package in json.loads(said)["packages"]}
    return _crates[manifest]


@dataclass
class Source:
    """A file to compile, with its compiler and flags."""
    file: Path
    compiler: str
    flags: list

    def command(self, *more):
        return [f"{self.compiler}-{LLVM}", "-O2", "-w", *self.flags, *more, "-c", str(self.file)]


def sources_of(library, work):
    """The library's sources; `work` has those that are made here, of several files that are compiled as one."""
    compiler = "clang++" if library.is_cpp() else "clang"
    files = library.files()
    if library.together > 1:
        files = [_joined(files[at:at + library.together], Path(work) / f"{library.name}-{at}.cc")
                 for at in range(0, len(files), library.together)]
    return [Source(file, compiler, library.flags + library.includes()) for file in files]


def program_of(library):
    """The program that calls it: ours."""
    ours = [f"-I{PASS / 'bench/programs'}", f"-I{HERE}"]
    return Source(HERE / library.program, "clang++" if library.is_cpp() else "clang", library.flags + library.includes() + ours)


def linker(library):
    return f"clang++-{LLVM}" if library.is_cpp() else f"clang-{LLVM}"


def _matching(root, pattern):
    if pattern.startswith("@"):
        return [root / line for line in (root / pattern[1:]).read_text().split()]
    return sorted(root.glob(pattern))


def _joined(files, target):
    target.write_text("".join(f'#include "{file}"\n' for file in files))
    return target
