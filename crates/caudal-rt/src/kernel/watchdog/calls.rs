//! The system call in which a thread sleeps, and what that mostly means. Called by the watchdog for its line.

use super::of_thread;

/// Calls in which handlers wait, and for what.
const CALLS: [(libc::c_long, &str, &str); 22] = [
    (libc::SYS_futex, "futex", "a lock, a condition, or the end of a thread"),
    (libc::SYS_read, "read", "input, or an eventfd"),
    (libc::SYS_readv, "readv", "input"),
    (libc::SYS_pread64, "pread64", "a disk"),
    (libc::SYS_write, "write", "output"),
    (libc::SYS_writev, "writev", "output"),
    (libc::SYS_recvfrom, "recvfrom", "a socket"),
    (libc::SYS_recvmsg, "recvmsg", "a socket"),
    (libc::SYS_sendto, "sendto", "a socket"),
    (libc::SYS_sendmsg, "sendmsg", "a socket"),
    (libc::SYS_accept, "accept", "a socket"),
    (libc::SYS_accept4, "accept4", "a socket"),
    (libc::SYS_connect, "connect", "a socket"),
    (libc::SYS_poll, "poll", "a descriptor"),
    (libc::SYS_ppoll, "ppoll", "a descriptor"),
    (libc::SYS_select, "select", "a descriptor"),
    (libc::SYS_epoll_wait, "epoll_wait", "a descriptor"),
    (libc::SYS_epoll_pwait, "epoll_pwait", "a descriptor"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep", "a time"),
    (libc::SYS_nanosleep, "nanosleep", "a time"),
    (libc::SYS_wait4, "wait4", "a process"),
    (libc::SYS_fsync, "fsync", "a disk"),
];

/// "`futex` (a lock, …)", if the thread sleeps in a call and the kernel says so.
pub(super) fn sleeps_in(thread: u32) -> Option<String> {
    in_words(&of_thread(thread, "syscall"), |thread| !of_thread(thread, "comm").is_empty())
}

/// The call, in words, from the kernel's text in `/proc/self/task/THREAD/syscall`: the call's number and its arguments, "running", or -1. `is_thread`: is that a
/// thread of this process?
fn in_words(text: &str, is_thread: impl Fn(u32) -> bool) -> Option<String> {
    let number: libc::c_long = text.split(' ').next()?.trim().parse().ok().filter(|&number| number >= 0)?;
    if number == libc::SYS_futex
        && let Some(thread) = joins(text).filter(|&thread| is_thread(thread))
    {
        return Some(format!(
            "`futex` (waits for the end of thread {thread}, as pthread_join and JoinHandle::join do)"
        ));
    }
    Some(match CALLS.iter().find(|(call, ..)| *call == number) {
        Some((_, name, what)) => format!("`{name}` (waits for {what})"),
        None => format!("system call {number}"),
    })
}

/// The thread whose end the caller of futex waits for: until the kernel changes a word that is the thread's number, which it wakes as it would
/// for another process.
fn joins(text: &str) -> Option<u32> {
    let mut arguments =
        text.split(' ').skip(2).map(|word| u64::from_str_radix(word.trim().strip_prefix("0x")?, 16).ok());
    let (operation, value) = (arguments.next()??, arguments.next()??);
    let operation = i32::try_from(operation).ok()?;
    let waits = matches!(operation & libc::FUTEX_CMD_MASK, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET);
    (waits && operation & libc::FUTEX_PRIVATE_FLAG == 0).then(|| u32::try_from(value).ok())?
}

#[cfg(test)]
mod tests {
    fn in_words(text: &str) -> Option<String> {
        super::in_words(text, |thread| thread == 0x1234)
    }

    #[test]
    fn who_waits_for_a_thread_is_no_riddle() {
        let joins = "`futex` (waits for the end of thread 4660, as pthread_join and JoinHandle::join do)";
        assert_eq!(in_words("202 0x7f00 0x109 0x1234 0x0 0x0 0xffffffff 0x7f 0x7f\n").unwrap(), joins);
        let locks = "`futex` (waits for a lock, a condition, or the end of a thread)";
        // For a word of this process alone, or one that is no thread.
        assert_eq!(in_words("202 0x7f00 0x189 0x1234 0x0 0x0 0xffffffff 0x7f 0x7f\n").unwrap(), locks);
        assert_eq!(in_words("202 0x7f00 0x109 0x2 0x0 0x0 0xffffffff 0x7f 0x7f\n").unwrap(), locks);
    }

    #[test]
    fn calls_have_names() {
        assert_eq!(
            in_words("0 0x3 0x7f 0x1 0x0 0x0 0x0 0x7f 0x7f\n").unwrap(),
            "`read` (waits for input, or an eventfd)"
        );
        assert_eq!(in_words("9999 0x3\n").unwrap(), "system call 9999");
        assert_eq!(in_words("running\n"), None);
        assert_eq!(in_words("-1 0x7f 0x7f\n"), None);
        assert_eq!(in_words(""), None);
    }
}
