/*
 * Decides for each name of the C library whose function a program calls by it. Called by bound.S, at the first call of a wrapper.
 *
 * A program may call a function of another library by a name of the C library. Which one it is, is decided once for each name and module, at
 * the first call of the module's wrapper (wrapper.h), which hands over what the linker and the loader have found there:
 *
 *      the C library's, or a sanitizer's that stands in front of it     ──▶ the library's wrapper, caudal_around_NAME_v1
 *      another's: the program's own, a mock (--wrap), a preloaded one   ──▶ that function; for locks and handlers of signals, around it
 *                                                                           what others.c does
 *
 * The same for what the library itself calls: LIBC(NAME) is never another's.
 *
 * The first call may be in a child of fork(), and a thread that the child does not have may hold the loader's lock. So the loader is asked at
 * the start, and later by _dl_find_object, which takes no lock. The lock is taken only where the C library has no such function (glibc before
 * 2.35, musl), and for objects that were loaded later.
 */
#define _GNU_SOURCE
#include "libc.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

/* --- names ---------------------------------------------------------------------------------------------------------- */

#define IS_CALLED_OWN(name)                          \
    extern char caudal_own_name_##name[] __asm__(#name); \
    IS_CALLED_IF_WRAPPED(name)
#define IS_CALLED_MAYBE(name)                                              \
    extern char caudal_own_name_##name[] __asm__(#name) __attribute__((weak)); \
    IS_CALLED_IF_WRAPPED(name)
#define IS_CALLED_IF_WRAPPED(name) extern char caudal_real_name_##name[] __asm__("__real_" #name) __attribute__((weak));
#define IS_CALLED_NOT(name)
/* `real` is there where the linker was told --wrap=NAME, and `mock` is what it takes then; `defined` is there where a file that the pass has
 * compiled defines NAME. */
#define CAUDAL_NAME(name, others, calls)                                                                     \
    IS_CALLED_##calls(name)                                                                                  \
    extern char caudal_mock_##name[] __asm__("__wrap_" #name) __attribute__((weak));                         \
    extern char caudal_defined_##name[] __asm__("caudal_defines_" #name) __attribute__((weak, visibility("hidden")));
#include "names.h"
#undef CAUDAL_NAME

#define ADDRESS_OWN(name) caudal_own_name_##name
#define ADDRESS_MAYBE(name) caudal_own_name_##name
#define ADDRESS_NOT(name) NULL
#define REAL_OWN(name) caudal_real_name_##name
#define REAL_MAYBE(name) caudal_real_name_##name
#define REAL_NOT(name) NULL

void *caudal_libc[CAUDAL_LIBC_NAMES] = {
#define CAUDAL_NAME(name, others, calls) ADDRESS_##calls(name),
#include "names.h"
#undef CAUDAL_NAME
};

static const struct name {
    const char *text;
    const char *real, *mock, *defined;
} names[CAUDAL_LIBC_NAMES] = {
#define CAUDAL_NAME(name, others, calls) {#name, REAL_##calls(name), caudal_mock_##name, caudal_defined_##name},
#include "names.h"
#undef CAUDAL_NAME
};

/* Of sanitizers that put functions of their own in front of the C library's. */
#define SANITIZERS(each) each(asan) each(hwasan) each(msan) each(rtsan) each(tsan) each(tysan)
#define DECLARE(name) extern char caudal_##name##_init[] __asm__("__" #name "_init") __attribute__((weak));
SANITIZERS(DECLARE)

static int has_sanitizer(void)
{
#define IS_THERE(name) caudal_##name##_init,
    static const char *const all[] = {SANITIZERS(IS_THERE)};
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] != NULL) {
            return 1;
        }
    }
    return 0;
}

/* --- the process's objects ------------------------------------------------------------------------------------------ */

/* Not in a static program, in which all objects are there at the start. */
#pragma weak dlsym

#define LIBRARIES_MAX 16

/* The libraries that a name of the C library may belong to, and where they are. */
struct libraries {
    size_t count;
    const ElfW(Dyn) *libc; /* the C library's own; null: the program is static */
    uintptr_t libc_base;
    struct {
        uintptr_t begin, end;
    } in[LIBRARIES_MAX];
};

static int begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static int is_library(const char *file)
{
    static const char *const known[] = {"libc.so", "libc.musl", "ld-musl", "ld-linux", "libpthread.so", "librt.so", "libstdc++.so",
                                        "libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libhwasan.so", "libclang_rt."};
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        if (begins_with(file, known[i])) {
            return 1;
        }
    }
    return 0;
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int note_object(struct dl_phdr_info *object, size_t size, void *found)
{
    struct libraries *libraries = found;
    const char *file = file_of(object->dlpi_name);
    uintptr_t begin = UINTPTR_MAX, end = 0;
    ElfW(Half) i;
    (void)size;
    if (libraries->count == LIBRARIES_MAX || !is_library(file)) {
        return 0;
    }
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t at = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            begin = at < begin ? at : begin;
            end = at + header->p_memsz > end ? at + header->p_memsz : end;
        } else if (header->p_type == PT_DYNAMIC && (begins_with(file, "libc.") || begins_with(file, "ld-musl"))) {
            libraries->libc = (const ElfW(Dyn) *)at;
            libraries->libc_base = object->dlpi_addr;
        }
    }
    libraries->in[libraries->count].begin = begin;
    libraries->in[libraries->count].end = end;
    libraries->count++;
    return 0;
}

static int is_in(const struct libraries *libraries, const void *address)
{
    size_t i;
    for (i = 0; i < libraries->count; i++) {
        if ((uintptr_t)address >= libraries->in[i].begin && (uintptr_t)address < libraries->in[i].end) {
            return 1;
        }
    }
    return 0;
}

/* --- the C library's own -------------------------------------------------------------------------------------------- */

/* The loader's knowledge of an object: its symbols by GNU's hash table, and which of several versions is the one to take. */
struct symbols {
    const ElfW(Sym) *table;
    const char *texts;
    const uint32_t *hash;
    const ElfW(Half) *versions;
};

static struct symbols symbols_of(const ElfW(Dyn) *entry, uintptr_t base)
{
    struct symbols symbols = {NULL, NULL, NULL, NULL};
    for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        uintptr_t at = entry->d_un.d_ptr;
        /* glibc has added the base already, others have not. */
        const void *place = (const void *)(at < base ? at + base : at);
        switch (entry->d_tag) {
        case DT_SYMTAB: symbols.table = place; break;
        case DT_STRTAB: symbols.texts = place; break;
        case DT_GNU_HASH: symbols.hash = place; break;
        case DT_VERSYM: symbols.versions = place; break;
        }
    }
    return symbols;
}

static uint32_t gnu_hash(const char *text)
{
    uint32_t hash = 5381;
    for (; *text != '\0'; text++) {
        hash = hash * 33 + (unsigned char)*text;
    }
    return hash;
}

/* Null: it has none, or none that new programs are linked with. */
static void *find(const struct symbols *symbols, uintptr_t base, const char *text)
{
    uint32_t hash = gnu_hash(text), buckets = symbols->hash[0], first = symbols->hash[1], words = symbols->hash[2];
    const uint32_t *bucket = symbols->hash + 4 + words * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;
    uint32_t i = bucket[hash % buckets];
    if (i < first) {
        return NULL;
    }
    for (;; i++) {
        const ElfW(Sym) *symbol = &symbols->table[i];
        int is_old = symbols->versions != NULL && (symbols->versions[i] & 0x8000) != 0;
        if ((chain[i - first] | 1) == (hash | 1) && !is_old && symbol->st_shndx != SHN_UNDEF &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && strcmp(symbols->texts + symbol->st_name, text) == 0) {
            return (void *)(base + symbol->st_value);
        }
        if (chain[i - first] & 1) {
            return NULL;
        }
    }
}

/* Of a function that is not in a library's object. */
static int is_others(const struct libraries *libraries, const struct name *name, const void *target)
{
    int is_said = target == name->mock || target == name->defined;
    /* A sanitizer may be part of the program; and in a static program nothing tells where a function came from, but for the linker's --wrap
     * and the pass's mark. */
    return is_said || (libraries->libc != NULL && !has_sanitizer());
}

/* Where the linker has found another's, the C library is asked itself. */
static void find_own(const struct libraries *libraries)
{
    struct symbols symbols = symbols_of(libraries->libc, libraries->libc_base);
    size_t i;
    for (i = 0; i < CAUDAL_LIBC_NAMES; i++) {
        void *own = caudal_libc[i];
        if (own == NULL) {
            continue;
        }
        own = names[i].real != NULL ? (void *)(uintptr_t)names[i].real : own;
        if (symbols.hash != NULL && !is_in(libraries, own) && is_others(libraries, &names[i], own)) {
            void *found = find(&symbols, libraries->libc_base, names[i].text);
            own = found != NULL ? found : own;
        }
        __atomic_store_n(&caudal_libc[i], own, __ATOMIC_RELAXED);
    }
}

/* --- preloaded ones of what the library defines itself --------------------------------------------------------------- */

struct next {
    const char *text;
    const void *own;
    void *found;
};

/* In the order in which the loader searches. */
static int find_next(struct dl_phdr_info *object, size_t size, void *wanted)
{
    struct next *next = wanted;
    const char *file = file_of(object->dlpi_name);
    const ElfW(Dyn) *dynamic = NULL;
    struct symbols symbols;
    ElfW(Half) i;
    int is_own = 0;
    (void)size;
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t at = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)at;
        }
        is_own |= header->p_type == PT_LOAD && (uintptr_t)next->own >= at && (uintptr_t)next->own < at + header->p_memsz;
    }
    /* The kernel's object has no symbols of the C library, and a hash table of its own kind. */
    if (is_own || begins_with(file, "linux-vdso")) {
        return 0;
    }
    if (is_library(file)) {
        return 1;
    }
    symbols = symbols_of(dynamic, object->dlpi_addr);
    next->found = symbols.hash != NULL ? find(&symbols, object->dlpi_addr, next->text) : NULL;
    return next->found != NULL;
}

void *caudal_probe_preloaded(const char *text, const void *own)
{
    struct next next = {text, own, NULL};
    dl_iterate_phdr(find_next, &next);
    return next.found;
}

/* --- whose it is ---------------------------------------------------------------------------------------------------- */

static const struct name *name_of(const char *text)
{
    size_t i;
    for (i = 0; i < CAUDAL_LIBC_NAMES; i++) {
        if (strcmp(names[i].text, text) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

/* Of a wrapper. */
struct slot {
    void *jump, *target;
    const char *name;
};

/* As the C library has it (dl_find_object), of which newer ones may write more. */
struct found_object {
    unsigned long long flags;
    void *begin, *end;
    struct link_map *map;
    void *rest[20];
};

typedef int find_object_function(void *address, struct found_object *found);

static struct {
    int is_known;
    struct libraries libraries;
    find_object_function *find_object; /* null: the C library has none */
} at_start;

CAUDAL_CONSTRUCTOR static void know_libraries(void)
{
    if (dlsym != NULL) {
        at_start.find_object = (find_object_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "_dl_find_object");
    }
    dl_iterate_phdr(note_object, &at_start.libraries);
    find_own(&at_start.libraries);
    __atomic_store_n(&at_start.is_known, 1, __ATOMIC_RELEASE);
}

/* Is the function in a library that a name of the C library may belong to? */
static int is_librarys(void *function)
{
    struct libraries now = {0, NULL, 0, {{0, 0}}};
    struct found_object found;
    if (at_start.libraries.libc == NULL) {
        return 0; /* The program is static. */
    }
    if (at_start.find_object != NULL) {
        return at_start.find_object(function, &found) == 0 && is_library(file_of(found.map->l_name));
    }
    if (is_in(&at_start.libraries, function)) {
        return 1;
    }
    dl_iterate_phdr(note_object, &now);
    return is_in(&now, function);
}

/* Is it another's, of the name of a function of the C library? */
static int is_anothers(const struct name *name, void *function)
{
    struct libraries now = {0, NULL, 0, {{0, 0}}};
    if (__atomic_load_n(&at_start.is_known, __ATOMIC_ACQUIRE)) {
        return is_others(&at_start.libraries, name, function) && !is_librarys(function);
    }
    /* A resolver or another's constructor calls, before the program has a thread. */
    dl_iterate_phdr(note_object, &now);
    find_own(&now);
    return is_others(&now, name, function) && !is_in(&now, function);
}

__attribute__((visibility("hidden"))) void *caudal_probe_bind(struct slot *slot, void *target, void *around, void *others)
{
    void *jump = around;
    const struct name *name = name_of(slot->name);
    /* Where it is the wrapper itself (of syscall and vfork), all of a program comes here. C++'s names are in no table, and in the C++ library. */
    if (target != NULL && target != around && name != NULL && is_anothers(name, target)) {
        jump = others != NULL ? others : target;
    }
    __atomic_store_n(&slot->target, target, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->jump, jump, __ATOMIC_RELEASE);
    return jump;
}
