"""Builds the libraries of libraries.py without and with probes.

Each source is optimised once, to bitcode; from that, `opt` with the plugin and `llc` make the objects of each mode, as clang
does in one go: the pass comes at the end of optimisation. So two builds differ by nothing but the probes. A library with a
list goes through clang anew for each mode: what a list names is kept apart from the start. Objects of libraries stay in
`work` and are taken from there, with what they took to make, until their command, their input or the plugin changes.
"""

import hashlib
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from libraries import HERE, LLVM, PASS, linker, program_of, sources_of

PROBE = PASS.parent / "crates/caudal-probe"


class Failed(Exception):
    """A command that failed, and what it said."""


def call(command):
    """Runs it; gives the processor time that it took, in seconds."""
    command = [str(part) for part in command]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        said = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{said}")
    return usage.ru_utime + usage.ru_stime


@dataclass
class Built:
    """Objects of one mode."""
    library: list
    program: Path
    #: Processor time for the library's.
    seconds: float
    #: What the pass said of each function, a JSON object each.
    report: list

    def text_bytes(self):
        said = subprocess.run(["size", "-A", *self.library], check=True, capture_output=True, text=True).stdout
        return sum(int(line.split()[1]) for line in said.splitlines() if line.startswith(".text"))


class Builder:
    def __init__(self, plugin, work, compiler_cache=(), reports=True):
        """`reports`: the pass says what it did, for which it looks at all ways once more."""
        self.plugin, self.work = Path(plugin).resolve(), Path(work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.compiler_cache, self.reports = list(compiler_cache), reports
        self.plugin_hash = hashlib.sha256(self.plugin.read_bytes()).digest()
        self.pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def support(self, *harness):
        """Objects of the probe library and of C files that a program is linked with."""
        strict = ["-mgeneral-regs-only", "-fexceptions", f"-I{PROBE}/csrc"]
        sources = [(source, strict) for source in sorted((PROBE / "csrc").glob("*.[cS]"))]
        sources += [(source, [f"-I{PASS / 'bench/programs'}", f"-I{HERE}"]) for source in harness]

        def compiled(item):
            source, flags = item
            target = self.work / f"support-{source.name}.o"
            call([f"clang-{LLVM}", "-O2", *flags, f"-I{PROBE}/include", "-c", source, "-o", target])
            return target
        return list(self.pool.map(compiled, sources))

    def build(self, library, mode, options=""):
        """Objects of `library` and of our program; `mode` None: without probes."""
        ours = self._object(library, "program", program_of(library), mode, options, keep=False)
        theirs = list(self.pool.map(lambda item: self._object(library, str(item[0]), item[1], mode, options, keep=True),
                                    enumerate(sources_of(library, self.work))))
        lines = [json.loads(line) for _, _, report in theirs if report for line in report.read_text().splitlines()]
        return Built([target for target, _, _ in theirs], ours[0],
                     sum(seconds for _, seconds, _ in theirs), lines)

    def link(self, library, built, support, target, first=()):
        call([linker(library), *first, *built.library, built.program, *support, *library.libraries, "-o", target])
        return target

    def _object(self, library, name, source, mode, options, keep):
        """The object, the time that it took, and the pass's report, if there is one."""
        bitcode = self.work / f"{library.name}-{name}.bc"
        target = bitcode.with_suffix(f".{mode or 'plain'}.o")
        report = target.with_suffix(".jsonl") if mode and self.reports else None
        options = f"mode={mode}{options}" + (f";report={report}" if report else "")
        if library.exclude:
            excluded = PASS / "lists" / library.exclude
            command, made_from = source.command("-o", target), source.file.read_bytes()
            if mode:
                command += [f"-fpass-plugin={self.plugin}", "-mllvm", f"-caudal-probes={options};exclude={excluded}"]
                made_from += excluded.read_bytes() + self.plugin_hash
            return target, self._made(target, command, made_from, keep, report), report
        command = [*self.compiler_cache, *source.command("-emit-llvm", "-fPIE"), "-o", bitcode]
        seconds = self._made(bitcode, command, source.file.read_bytes(), keep)
        if mode:
            plain, bitcode = bitcode, bitcode.with_suffix(f".{mode}.bc")
            command = [f"opt-{LLVM}", f"-load-pass-plugin={self.plugin}", f"-passes=caudal-probes<{options}>", plain,
                       "-o", bitcode]
            seconds += self._made(bitcode, command, plain.read_bytes() + self.plugin_hash, keep, report)
        command = [f"llc-{LLVM}", "-O2", "-relocation-model=pic", "-filetype=obj", bitcode, "-o", target]
        made_from = bitcode.read_bytes()
        if mode:
            # What due probes call is put in its place by the code generator.
            command.insert(1, f"--load-pass-plugin={self.plugin}")
            made_from += self.plugin_hash
        return target, seconds + self._made(target, command, made_from, keep), report

    def _made(self, target, command, made_from, keep, report=None):
        """Runs `command`, which makes `target`, unless it is there already; gives the time that it took."""
        note = Path(f"{target}.made")
        key = hashlib.sha256(" ".join(map(str, command)).encode() + b"\0" + made_from).hexdigest()
        if keep and target.exists() and note.exists():
            seconds, _, was = note.read_text().partition(" ")
            if was == key:
                return float(seconds)
        if report:
            # The pass appends.
            report.unlink(missing_ok=True)
        seconds = call(command)
        note.write_text(f"{seconds} {key}")
        return seconds
