/*
 * Lets a locale that is set by uselocale() go with the request. Called by programs with probes that call uselocale.
 *
 * uselocale() of code with probes: the locale that it sets is the thread's, so from the first call on the runtime has it go with the
 * request. What only asks for the locale changes nothing.
 */
#define _GNU_SOURCE
#include <locale.h>
#include <stddef.h>

#include "libc.h"

static void (*hook)(void);
static unsigned char is_set;

/* Whoever comes second, the hook or the first locale, calls the hook. */
void caudal_locale_hook_v1(void (*called)(void))
{
    __atomic_store_n(&hook, called, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&is_set, __ATOMIC_SEQ_CST)) {
        called();
    }
}

locale_t caudal_around_uselocale_v1(locale_t locale)
{
    if (locale != (locale_t)0) {
        void (*called)(void);
        __atomic_store_n(&is_set, 1, __ATOMIC_SEQ_CST);
        called = __atomic_load_n(&hook, __ATOMIC_SEQ_CST);
        if (called != NULL) {
            called();
        }
    }
    return LIBC(uselocale)(locale);
}
