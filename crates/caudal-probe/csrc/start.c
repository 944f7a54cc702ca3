/*
 * Makes thread-local storage for a static program before the C library does. Called by entry.S, once.
 *
 * Thread-local storage for the time before the C library sets it up, in static programs: see entry.S.
 *
 * Nothing here may use the C library, thread-local storage, or an address that has to be relocated. Where something can not be had, the
 * program goes on without: only resolvers with probes miss it.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The linker's: where the program's file begins in memory. Weak: a linker script may leave it out. */
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));

/* The thread's control block above the storage: itself at its begin; the rest is the C library's, as much as any has. */
#define CONTROL 4096

static long ask(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ __volatile__("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
    return result;
}

/* The word that a stack protector compares with is thread-local. */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
__attribute__((no_stack_protector))
#endif
#endif
__attribute__((visibility("hidden"))) void caudal_probe_early_storage(void)
{
    const Elf64_Ehdr *file = &__ehdr_start;
    const Elf64_Phdr *headers, *storage = NULL, *first = NULL;
    uintptr_t base, size, top;
    const unsigned char *from;
    unsigned char *to;
    size_t i;
    long mapped;
    __asm__("" : "+r"(file));
    if (file == NULL) {
        return;
    }
    headers = (const Elf64_Phdr *)((uintptr_t)file + file->e_phoff);
    for (i = 0; i < file->e_phnum; i++) {
        if (headers[i].p_type == PT_TLS) {
            storage = &headers[i];
        }
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0) {
            first = &headers[i];
        }
    }
    if (storage == NULL || first == NULL) {
        return;
    }
    base = (uintptr_t)file - first->p_vaddr;
    size = (storage->p_memsz + storage->p_align - 1) & -(uintptr_t)storage->p_align;
    mapped = ask(SYS_mmap, 0, (long)(size + storage->p_align + CONTROL), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((unsigned long)mapped > -4096UL) {
        return;
    }
    top = ((uintptr_t)mapped + size + storage->p_align - 1) & -(uintptr_t)storage->p_align;
    from = (const unsigned char *)(base + storage->p_vaddr);
    to = (unsigned char *)(top - size);
    for (i = 0; i < storage->p_filesz; i++) {
        /* Not by memcpy, which is chosen by a resolver. */
        ((volatile unsigned char *)to)[i] = from[i];
    }
    *(uintptr_t *)top = top;
    ask(SYS_arch_prctl, ARCH_SET_FS, (long)top, 0, 0, 0, 0);
}
