"""The libraries of `strangers`: where their sources come from, and how their own tests are built and run.

Commands are bash's, with `set -euo pipefail`, in a copy of the sources; `$CC`, `$CXX`, `$CFLAGS`, `$CXXFLAGS`, `$AR`, `$NM` and
`$RANLIB` are set, and `$SHARED` is not empty where the tests are to use the library as a shared object. `autotools` and
`cmake_it` configure with all of that; they take more arguments.
"""

from dataclasses import dataclass, field

AUTORECONF = [("autoreconf", "autoconf"), ("automake", "automake"), ("libtoolize", "libtool")]


@dataclass(frozen=True)
class Plant:
    """A fault: in `file`, what is `right` becomes what is `wrong`."""
    file: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Recipe:
    name: str
    #: Debian's source package, or a crate and its version.
    source: str
    #: Builds the library and the programs of its tests.
    build: str
    #: Runs the tests. For a crate, the arguments of `cargo test`.
    tests: str
    plant: Plant
    is_rust: bool = False
    #: Where in the sources all commands run.
    folder: str = "."
    #: Once, behind the unpacking.
    prepare: str = ""
    #: Commands, and the packages that bring them.
    needs: tuple = ()
    #: Options of the compiler beside -O2.
    flags: str = ""
    #: Whether it can be built as a shared object that its tests use.
    shared: bool = True
    #: Patterns of lines that say what became of a test, beside those that `strangers` knows.
    verdicts: tuple = ()
    #: The tests say nothing of each: the exit status is all.
    by_status: bool = False
    #: How long the tests may take.
    seconds: int = 600
    #: Variants that are not tried, and why.
    left_out: dict = field(default_factory=dict)
    #: Variants that differ, and why.
    known: dict = field(default_factory=dict)

    def key(self, variant):
        """All on which the outcome of a variant depends."""
        no_part = {"known", "left_out", "seconds"} | ({"plant"} if variant != "planted" else set())
        return repr([getattr(self, name) for name in self.__dataclass_fields__ if name not in no_part])


def automake(name, source, plant, arguments="", generated=True, **more):
    """A library that is built by configure, make and make check; `generated`: its package brings configure along."""
    if not generated:
        more = {"prepare": "autoreconf -fi", "needs": (*AUTORECONF, *more.pop("needs", ())), **more}
    build = f"autotools {arguments}\nmake\nmake check TESTS=\n"
    return Recipe(name, source, **{"build": build, "tests": "make check", "plant": plant, **more})


def by_cmake(name, source, plant, arguments="", **more):
    """A library that is built by CMake, with tests for CTest."""
    more = {"needs": (("cmake", "cmake"),), "tests": "cd build && ctest --output-on-failure", **more}
    return Recipe(name, source, build=f"cmake_it {arguments}\nmake -C build\n", plant=plant, **more)


def crate(name, source, plant, arguments="", **more):
    """Tests of a crate from the registry, optimised, those of its documentation left out."""
    tests = f"--release --lib --tests {arguments}".strip()
    return Recipe(name, source, build="", tests=tests, plant=plant, is_rust=True, **more)


RECIPES = [
    Recipe("zlib", "zlib", build="./configure\nmake\n", tests="make test", verdicts=(r"^\s*\*\*\* zlib .*test .*",),
           plant=Plant("inflate.c", "*put++ = (unsigned char)(state->length);",
                       "*put++ = (unsigned char)(state->length ^ 1);")),
    Recipe("bzip2", "bzip2",
           build="""
               settings=(CC="$CC" CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64" AR="$AR" RANLIB="$RANLIB")
               make "${settings[@]}" bzip2 bzip2recover libbz2.a
           """,
           tests="make test", by_status=True,
           plant=Plant("compress.c", "s->combinedCRC ^= s->blockCRC;", "s->combinedCRC ^= s->blockCRC ^ 1;")),
    automake("libyaml", "libyaml", generated=False,
             plant=Plant("src/reader.c", "value = (value << 6) + (octet & 0x3F);", "value = (value << 6) + (octet & 0x1F);")),
    Recipe("mawk", "mawk", build="configure_it\nmake\n", tests="make check", shared=False,
           verdicts=(r"^\S.* (?:ok|fail\b.*)$", r"^\?\? fail.*"), by_status=True,
           plant=Plant("execute.c", "result = memcmp(string(cp)->str, string(cp + 1)->str, len);",
                       "result = memcmp(string(cp + 1)->str, string(cp)->str, len);")),
    automake("jansson", "jansson", generated=False,
             plant=Plant("src/hashtable.c", "        hashtable->size++;\n", "")),
    by_cmake("cjson", "cjson", arguments="-DENABLE_CJSON_TEST=ON -DENABLE_CJSON_UTILS=ON -DENABLE_CUSTOM_COMPILER_FLAGS=OFF",
             plant=Plant("cJSON.c", "number = strtod((const char*)number_c_string, (char**)&after_end);",
                         "number = strtod((const char*)number_c_string, (char**)&after_end) + 1;")),
    by_cmake("tinyxml2", "tinyxml2", arguments="-DBUILD_TESTING=ON", tests="./build/xmltest",
             verdicts=(r"^\[(?:pass|fail)\].*",),
             plant=Plant("tinyxml2.h", "return strncmp( p, q, nChar ) == 0;", "return strncmp( p, q, nChar ) > 0;")),
    automake("libsigsegv", "libsigsegv",
             plant=Plant("src/dispatcher.c", "if (key < tree->address)\n        tree = tree->left;\n      else if (key - ",
                         "if (key > tree->address)\n        tree = tree->left;\n      else if (key - ")),
    automake("expat", "expat", generated=False, folder="expat", arguments="--without-docbook",
             plant=Plant("expat/lib/xmltok.c", "      c1 += ASCII_A - ASCII_a;\n", "      c1 += ASCII_B - ASCII_a;\n")),
    automake("libgc", "libgc", arguments="--enable-threads=posix",
             plant=Plant("misc.c", "return (size_t)hhdr->hb_sz;", "return (size_t)hhdr->hb_sz + 1;")),
    Recipe("lz4", "lz4", shared=False, by_status=True, verdicts=(r"^(?:All|all) .*(?:completed|tests).*",),
           build='make -C tests CC="$CC" CFLAGS="$CFLAGS" AR="$AR" fuzzer frametest roundTripTest',
           tests="cd tests\n./fuzzer -i60 -s42\n./frametest -i60 -s42",
           plant=Plant("lib/lz4.c", "        LZ4_write16(memPtr, value);", "        LZ4_write16(memPtr, value ^ 1);")),
    automake("pcre2", "pcre2", arguments="--enable-jit --enable-pcre2-16 --enable-pcre2-32",
             plant=Plant("src/pcre2_ord2utf.c", "*buffer-- = 0x80 | (cvalue & 0x3f);", "*buffer-- = 0x80 | (cvalue & 0x1f);")),
    automake("libpng", "libpng1.6",
             plant=Plant("pngrutil.c", "*rp = (png_byte)(((int)(*rp) + (int)(*pp++)) & 0xff);",
                         "*rp = (png_byte)(((int)(*rp) - (int)(*pp++)) & 0xff);")),
    automake("xz", "xz-utils", arguments="--disable-nls --disable-doc",
             plant=Plant("src/liblzma/check/crc32_fast.c", "\twhile (size-- != 0)\n\t\tcrc = lzma_crc32_table[0]",
                         "\twhile (size-- != 0)\n\t\tcrc = lzma_crc32_table[1]")),
    automake("libsodium", "libsodium", generated=False,
             plant=Plant("src/libsodium/sodium/codecs.c", "        b = bin[i] >> 4;\n        x = (unsigned char) (87U",
                         "        b = bin[i] >> 5;\n        x = (unsigned char) (87U")),
    Recipe("libtommath", "libtommath", shared=False, verdicts=(r"^TEST .*", r"^Tests OK.*"),
           build='make CC="$CC" CFLAGS="$CFLAGS" AR="$AR" RANLIB="$RANLIB" test', tests="./test",
           left_out={"every": "its tests did not end within 300 s, and take 9 s without probes"},
           plant=Plant("bn_mp_add_d.c", "mu      = *tmpc >> MP_DIGIT_BIT;", "mu      = 0;")),
    Recipe("pugixml", "pugixml", shared=False, verdicts=(r"^Success: .*", r"^FAILURE: .*", r"^Test .* failed.*"),
           build='make CXX="$CXX" CXXFLAGS="$CXXFLAGS -std=c++11"',
           tests='make CXX="$CXX" CXXFLAGS="$CXXFLAGS -std=c++11" test',
           plant=Plant("src/pugixml.cpp", "\t\treturn strcmp(src, dst) == 0;", "\t\treturn strcmp(src, dst) > 0;")),
    by_cmake("double-conversion", "double-conversion", arguments="-DBUILD_TESTING=ON",
             plant=Plant("double-conversion/strtod.cc", "    result = 10 * result + digit;\n  }\n  *number_of_read_digits = i;",
                         "    result = 10 * result + digit + 1;\n  }\n  *number_of_read_digits = i;")),
    by_cmake("json-c", "json-c", arguments="-DBUILD_TESTING=ON -DDISABLE_WERROR=ON",
             plant=Plant("json_object.c", 'printbuf_memappend(pb, "\\\\n", 2)', 'printbuf_memappend(pb, "\\\\r", 2)')),
    automake("libogg", "libogg", by_status=True, verdicts=(r".*\bok\.$", r"^test\d+.*"), build="autotools\nmake\n",
             plant=Plant("src/bitwise.c", "b->ptr[2]=(unsigned char)(value>>(16-b->endbit));",
                         "b->ptr[2]=(unsigned char)(value>>(15-b->endbit));")),
    Recipe("nettle", "nettle", build="autotools --disable-assembler --enable-mini-gmp --disable-documentation\nmake\n",
           tests="make check", verdicts=(r"^(?P<verdict>PASS|FAIL|SKIP): (?P<name>.*)",),
           plant=Plant("base16-encode.c", "base16_encode_single(dst, src[i]);", "base16_encode_single(dst, src[i] ^ 1);")),
    automake("libidn2", "libidn2", arguments="--disable-nls --disable-doc --disable-gtk-doc",
             plant=Plant("lib/puny_encode.c", "delta = firsttime ? delta / damp : delta >> 1;",
                         "delta = firsttime ? delta / damp : delta >> 2;")),
    Recipe("libxml2", "libxml2", flags="-Wno-error",
           build="""
               autotools --without-python
               make
               make runtest testchar testdict testrecurse testThreads testapi
           """,
           tests="for test in runtest testchar testdict testrecurse testThreads testapi; do echo \"== $test\"; ./$test; done",
           verdicts=(r"^Total .*", r"^## .*", r"^== .*"),
           plant=Plant("xmlstring.c", "        if (*str1++ != *str2) return(0);", "        if (*str1 != *str2) return(0);")),
    Recipe("zstd", "libzstd", shared=False, by_status=True,
           build='make -C tests CC="$CC" CFLAGS="$CFLAGS" AR="$AR" fuzzer zstreamtest',
           tests="cd tests\n./fuzzer -i30 -s7\n./zstreamtest -i15 -s7",
           plant=Plant("lib/decompress/zstd_decompress.c", "    ZSTD_memmove(dst, src, srcSize);\n    return srcSize;\n",
                       "    ZSTD_memmove(dst, src, srcSize - 1);\n    return srcSize;\n")),
    by_cmake("libjpeg-turbo", "libjpeg-turbo", arguments="-DWITH_SIMD=0",
             plant=Plant("jidctint.c", "    wsptr[DCTSIZE * 7] = (int)DESCALE(tmp10 - tmp3, CONST_BITS - PASS1_BITS);",
                         "    wsptr[DCTSIZE * 7] = (int)DESCALE(tmp10 + tmp3, CONST_BITS - PASS1_BITS);")),
    automake("libtasn1", "libtasn1-6", arguments="--disable-doc --disable-gtk-doc",
             plant=Plant("lib/coding.c", "temp[k++] = len & 0xFF;", "temp[k++] = len & 0x7F;")),
    by_cmake("jsoncpp", "libjsoncpp", verdicts=(r"^(?P<verdict>Testing) (?P<name>.*)",),
             arguments="-DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF -DBUILD_OBJECT_LIBS=OFF", tests="./build/bin/jsoncpp_test",
             plant=Plant("src/lib_json/json_value.cpp", "{ return !(other < *this); }", "{ return other < *this; }")),
    # `make check` builds its tests, and does not run them.
    automake("libconfig", "libconfig", tests="cd tests\n./libconfig_tests", verdicts=(r"^\[TEST\].*",),
             plant=Plant("lib/libconfig.c", "  list->elements[list->length] = setting;",
                         "  list->elements[list->length / 2 * 2] = setting;")),
    # Those of checkmk, a script in awk, fail without probes, and those of time limits take minutes.
    automake("check", "check", arguments="--disable-timeout-tests", tests="make -C tests check",
             plant=Plant("src/check_list.c", "    lp->current = lp->last;\n    lp->data[lp->current] = val;",
                         "    lp->current = lp->last;\n    lp->data[0] = val;")),
    automake("liburcu", "liburcu", tests="make -C tests/unit check", build="autotools\nmake\n",
             plant=Plant("include/urcu/uatomic/x86.h", "return result + (unsigned int)val;", "return result;")),
    crate("serde_json", "serde_json 1.0.154",
          plant=Plant("src/read.rs", "b'n' => scratch.push(b'\\n'),", "b'n' => scratch.push(b'\\r'),")),
    # The package leaves out what this module includes.
    crate("regex", "regex 1.13.2", prepare="sed -i '/^mod fuzz;$/d' tests/lib.rs",
          plant=Plant("src/regex/string.rs", "self.meta.search_half(&input).is_some()",
                      "self.meta.search_half(&input).is_none()")),
    crate("hashbrown", "hashbrown 0.17.1",
          plant=Plant("src/map.rs", "Ok(bucket) => Some(mem::replace(unsafe { &mut bucket.as_mut().1 }, v)),",
                      "Ok(_) => Some(v),")),
    crate("bytes", "bytes 1.12.1",
          plant=Plant("src/bytes.rs", "        ret.len = end - begin;\n", "        ret.len = end - begin - 1;\n")),
    # The package leaves out the pictures: tests that read one fail without probes, too, and one would not even compile.
    crate("image", "image 0.25.10", prepare="mkdir -p tests/images/jpg\ntouch tests/images/jpg/portrait_2.jpg",
          arguments="--no-default-features --features bmp,gif,jpeg,png,pnm,qoi,tga,tiff",
          plant=Plant("src/math/utils.rs", "f64::max(wratio, hratio)", "f64::min(wratio, hratio)")),
    # The package has the program that makes its tests' certificates, and leaves them out. They are made once: the program needs
    # a second library for cryptography, which takes minutes to build. What else of its tests' data is left out is empty here:
    # tests that read it fail without probes, too. The tests use ring, whose own have no data in its package either.
    crate("rustls", "rustls 0.23.46", arguments="--no-default-features --features logging,ring,std,tls12",
          prepare="""
              [ -e ../test-ca/made ] || CARGO_TARGET_DIR=../target/test-ca cargo run --quiet --example test_ca
              touch ../test-ca/made
              sed -i '/^\\[dev-dependencies.rcgen\\]$/,/^default-features/d' Cargo.toml
              mkdir -p src/testdata
              grep -rhoE 'testdata/[^"/]+' src | sort -u | sed 's,^,src/,' | xargs touch
          """,
          plant=Plant("src/vecbuf.rs", "cmp::min(len, space)", "cmp::max(len, space)")),
    crate("arrow-buffer", "arrow-buffer 60.1.0",
          plant=Plant("src/util/bit_util.rs", "    data[i / 8] & (1 << (i % 8)) != 0\n",
                      "    data[i / 8] & (1 << (i % 7)) != 0\n")),
    crate("arrow-array", "arrow-array 60.1.0",
          plant=Plant("src/builder/primitive_builder.rs", "append_non_null();\n        self.values_builder.push(v);",
                      "append_null();\n        self.values_builder.push(v);")),
]
