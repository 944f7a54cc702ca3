/* A library that nobody instruments, and which has a lock while it calls back. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

void under_the_librarys_lock(void (*call)(void *), void *argument);
void lock_of_the_library(void);
void unlock_of_the_library(void);
pthread_mutex_t *mutex_of_the_library(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

pthread_mutex_t *mutex_of_the_library(void)
{
    return &mutex;
}

void under_the_librarys_lock(void (*call)(void *), void *argument)
{
    pthread_mutex_lock(&mutex);
    call(argument);
    pthread_mutex_unlock(&mutex);
}

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void under_the_librarys_own_lock(void (*call)(void *), void *argument);
void under_the_librarys_own_lock(void (*call)(void *), void *argument)
{
    pthread_mutex_lock(&recursive);
    call(argument);
    pthread_mutex_unlock(&recursive);
}

void jump_in_the_library(sigjmp_buf buffer);
void jump_in_the_library(sigjmp_buf buffer)
{
    siglongjmp(buffer, 1);
}

void register_in_the_library(int number, void (*handler)(int));
void register_in_the_library(int number, void (*handler)(int))
{
    signal(number, handler);
}

void signal_in_the_library(pthread_cond_t *condition);
void signal_in_the_library(pthread_cond_t *condition)
{
    pthread_cond_broadcast(condition);
}
