#include "plain.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sigaction before;

static void in_front(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL) {
        before.sa_handler(number);
    }
}

static void chain(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = in_front;
    action.sa_flags = SA_SIGINFO;
    sigaction(number, &action, &before);
}

static void unchain(int number)
{
    sigaction(number, &before, NULL);
}

static struct {
    void *handler;
    unsigned long flags;
    void *restorer;
    unsigned long mask;
} kernels;

static void suspend(int number)
{
    syscall(SYS_rt_sigaction, number, NULL, &kernels, sizeof kernels.mask);
    signal(number, SIG_IGN);
}

static void resume(int number)
{
    syscall(SYS_rt_sigaction, number, &kernels, NULL, sizeof kernels.mask);
}

static void jump(sigjmp_buf buffer, int value)
{
    siglongjmp(buffer, value);
}

static int own_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

static void (*own_signal(int number, void (*handler)(int)))(int)
{
    return signal(number, handler);
}

static void (*own_sigset(int number, void (*handler)(int)))(int)
{
    return sigset(number, handler);
}

void plain_fill(struct plain *plain)
{
    struct plain all = {own_sigaction, own_signal, own_sigset, chain, unchain, suspend, resume, jump};
    *plain = all;
}
