/* What stands for sigaction in a test (-Wl,--wrap=sigaction): it says what it is given, and hands on. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

const char *name_of(void (*it)(int));
int __real_sigaction(int number, const struct sigaction *action, struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before);

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    dprintf(STDOUT_FILENO, "sigaction of %s\n", action != NULL ? name_of(action->sa_handler) : "nothing");
    return __real_sigaction(number, action, before);
}
