"""Programs of the bench and how they are built, with and without the pass."""
import dataclasses, pathlib, shutil, subprocess, sys

import turns

HERE = pathlib.Path(__file__).resolve().parent
# Where a program's code lies makes it up to a quarter faster or slower, with and without probes (which branches share what
# predicts them, where fetched blocks end). So each is linked several times, with so many bytes more in front of it.
SHIFTS = [0, 80, 160, 240]
sys.path.insert(0, str(HERE.parent / "third-party"))
import build as third_party, libraries  # noqa: E402


@dataclasses.dataclass
class Program:
    name: str
    source: pathlib.Path  # None: a library's
    language: str
    flags: list
    checksum: str
    libraries: list


@dataclasses.dataclass
class Build:
    """The same executable by SHIFTS, its program's code in bytes, and the processor's seconds that compiling took, at
    least."""
    files: list
    code_bytes: int
    seconds: float


SUFFIXES = {"c": "c", "c++": "cpp", "rust": "rs"}


def programs(names, directory):
    """Those of the directory's LIST and, with our own, the libraries that others wrote; or of them those that `names` has."""
    found, measured = [], libraries.MEASURED if directory.resolve() == HERE / "programs" else []
    for line in (directory / "LIST").read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        name, language, flags, checksum, linked = line.split()[:5]
        if not names or name in names:
            source = directory / f"{name}.{SUFFIXES[language]}"
            found.append(Program(name, source, language, [] if flags == "-" else flags.split(","), checksum,
                                 [] if linked == "-" else [linked]))
    found += [Program(library.name, None, library, [], library.checksum, []) for library in measured
              if not names or library.name in names]
    if unknown := set(names) - {program.name for program in found}:
        sys.exit(f"neither in {directory}/LIST nor in third-party/libraries.py: {', '.join(sorted(unknown))}")
    return found


def check_call(command):
    command = list(map(str, command))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")


def code_bytes(files):
    listing = subprocess.run(["size", "-A", *files], capture_output=True, text=True, check=True).stdout
    return sum(int(line.split()[1]) for line in listing.splitlines() if line.startswith(".text"))


class Builder:
    def __init__(self, plugin, probe, options, out, kept, core, compilations):
        """`kept`: where objects of libraries stay from one run to the next; `core`: on which all else is compiled, and
        so many times."""
        self.plugin, self.options, self.out, self.core = pathlib.Path(plugin).resolve(), options, out, core
        self.compilations = compilations
        self.clang, self.clangxx = "clang-22", "clang++-22"
        self.support = self.build_support(probe)
        self.fillers = [self.build_filler(shift) for shift in SHIFTS]
        self.third_party = third_party.Builder(plugin, kept, reports=False)

    def build_support(self, probe):
        """The probe library and the harness, which every program is linked with, and the clock-reading loop."""
        objects, include = [], ["-I", probe / "include"]
        for source in sorted((probe / "csrc").glob("*.[cS]")):
            objects.append(self.out / (source.name + ".o"))
            check_call([self.clang, "-O2", "-mgeneral-regs-only", "-fexceptions", *include, "-c", source, "-o", objects[-1]])
        check_call([self.clang, "-O2", *include, HERE / "stalls.c", *objects, "-o", self.out / "stalls"])
        objects.append(self.out / "harness.o")
        check_call([self.clang, "-O2", "-mgeneral-regs-only", *include, "-c", HERE / "harness.c", "-o", objects[-1]])
        return objects

    def build_filler(self, shift):
        """What is linked in front of a program, to shift its code."""
        source = self.out / f"filler-{shift}.s"
        # Nobody calls it, and linkers drop what nobody calls, but for what is marked "R".
        source.write_text(f'.section .text.filler,"axR",@progbits\n.skip {shift}, 0x90\n'
                          '.section .note.GNU-stack,"",@progbits\n')
        check_call([self.clang, "-c", source, "-o", source.with_suffix(".o")])
        return source.with_suffix(".o")

    def build(self, program, modes):
        """By mode, of the pass or "plain": the same line without it. Compiling takes turns as the programs do (turns.py), but for
        libraries, which are built one after the other."""
        if isinstance(program.language, libraries.Library):
            return {mode: self.build_library(program.language, mode) for mode in modes}
        of_language = self.rust if program.language == "rust" else self.c
        # Not with a dot: rustc's own objects are named by what is in front of it, and those of two modes are there at once.
        steps = {mode: of_language(program, mode, self.out / f"{program.name}-{mode}") for mode in modes}
        seconds = zip(*(self.compile_in_turns([compiling for compiling, _, _ in steps.values()]) for _ in range(self.compilations)))
        return {mode: Build([link(filler) for filler in self.fillers], code_bytes(objects()), min(each))
                for (mode, (_, objects, link)), each in zip(steps.items(), seconds)}

    def compile_in_turns(self, commands):
        """The processor's seconds of each."""
        words = [["taskset", "-c", self.core, *map(str, command)] for command in commands]
        done = turns.take_turns([(command, None) for command in words])
        for command, (status, _, err, _) in zip(words, done):
            if status:
                sys.exit(f"{' '.join(command)}\n{err}")
        return [seconds for _, _, _, seconds in done]

    def build_library(self, library, mode):
        """Its size is that of the library's objects, without our program, and the time the processor's, for those."""
        built = self.third_party.build(library, None if mode == "plain" else mode, f";{self.options}" if self.options else "")
        main = self.third_party.support(libraries.HERE / "main.c")[-1]
        files = [self.third_party.link(library, built, [*self.support, main], self.out / f"{library.name}.{mode}.{filler.stem}",
                                       first=[filler]) for filler in self.fillers]
        return Build(files, built.text_bytes(), built.seconds)

    def text(self, mode):
        return f"mode={mode};{self.options}"

    def c(self, program, mode, file):
        """The line that compiles, which is what is timed; what then says where the code is, and what links it behind a filler."""
        compiler = self.clang if program.language == "c" else self.clangxx
        command = [compiler, "-O2", *program.flags, "-c", program.source, "-o", f"{file}.o"]
        if mode != "plain":
            command += [f"-fpass-plugin={self.plugin}", "-mllvm", f"-caudal-probes={self.text(mode)}"]

        def link(filler):
            target = file.with_name(f"{file.name}.{filler.stem}")
            check_call([compiler, filler, f"{file}.o", *self.support, *program.libraries, "-o", target])
            return target
        return command, lambda: [f"{file}.o"], link

    def rust(self, program, mode, file):
        """As `cargo caudal` does: bitcode, thin LTO by clang and lld, the pass at the link, options in a file beside it."""
        for old in self.out.glob(f"{file.name}.lto*"):
            old.unlink()
        link = ["-fuse-ld=lld", f"-Wl,--lto-obj-path={file}.lto.o", *self.support]
        if mode != "plain":
            link.append(f"-Wl,--load-pass-plugin={self.plugin_with_options(mode)}")

        # What lld compiles, it puts behind all objects that it is given.
        def line(target, *fillers):
            return ["rustc", "--edition", "2021", "-O", *program.flags, "-Clinker-plugin-lto", f"-Clinker={self.clang}",
                    *(f"-Clink-arg={word}" for word in [*fillers, *link]), program.source, "-o", target]

        def built(filler):
            target = file.with_name(f"{file.name}.{filler.stem}")
            check_call(line(target, filler))
            return target
        return line(file), lambda: sorted(self.out.glob(f"{file.name}.lto.o*")), built

    def plugin_with_options(self, mode):
        directory = self.out / f"plugin.{mode}"
        directory.mkdir(exist_ok=True)
        plugin = directory / self.plugin.name
        shutil.copyfile(self.plugin, plugin)
        (directory / (plugin.name + ".options")).write_text(self.text(mode))
        return plugin
