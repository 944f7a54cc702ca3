"""What the tests' RUN lines may say.

%probes      opt with the plugin, text out:          RUN: %probes -passes='caudal-probes<mode=flag>' %s
%clang       clang; with the plugin: %clang %with
%same        a program that must print the same with probes, every one of which yields: support/same
"""

import os
import sys

import lit.formats

config.name = "caudal-pass"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".c", ".cpp", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["support", "CMakeLists.txt"]

# Levels of programs that must print the same: the one without optimisation, and one with link-time optimisation.
SAMPLE = "-O0,-O3"

tools = config.llvm_tools
# clang 19 reads -mllvm before it loads passes, but not before it loads extensions of its own.
early = f"-fplugin={config.plugin} " if config.llvm_major == 19 else ""
config.environment["PATH"] = os.pathsep.join([tools, config.environment["PATH"]])
config.substitutions += [
    ("%probes", f"{tools}/opt -S -load-pass-plugin={config.plugin}"),
    ("%opt", f"{tools}/opt"),
    ("%python", sys.executable),
    ("%plugin", config.plugin),
    ("%with", f"{early}-fpass-plugin={config.plugin} -mllvm"),
    ("%lld", "-fuse-ld=lld"),
    ("%clangxx", f"{config.clang} --driver-mode=g++"),
    ("%clang", config.clang),
    ("%every", config.every),
    ("%include", f"-I{config.probe_include}"),
    ("%mutate", config.mutate),
    ("%same", f"{config.test_source_root}/support/same --clang {config.clang} --plugin {config.plugin}"
              f" --include {config.probe_include} --every {config.every}{' --early' if early else ''} --work %t.same"
              f"{'' if lit_config.params.get('long') else f' --levels={SAMPLE}'}"),
]
config.available_features.add(f"llvm-{config.llvm_major}")

# `lit --param long=1`, which check-pass-long is: all levels and all mutations, not a sample of them.
if lit_config.params.get("long"):
    config.available_features.add("long")
