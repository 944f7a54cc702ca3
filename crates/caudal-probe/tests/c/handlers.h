/* What the tests of handlers of signals share. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <signal.h>
#include <string.h>

#include "caudal/probe.h"
#include "check.h"

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK(sigaction(number, &action, NULL) == 0);
}

/* Outside of all sections; one that is entered is counted, and one that is left. */
static void is_outside(void)
{
    CHECK_EQUAL(caudal_critical_depth(), 0);
    caudal_critical_enter();
    caudal_critical_enter();
    CHECK_EQUAL(caudal_critical_depth(), 2);
    caudal_critical_exit();
    CHECK_EQUAL(caudal_critical_depth(), 1);
    caudal_critical_exit();
    CHECK_EQUAL(caudal_critical_depth(), 0);
}

#endif
