//! Which system call a thread sleeps in, and what that mostly is: for the watchdog's line.

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
    in_words(&of_thread(thread, "syscall"))
}

/// What the kernel has in `/proc/self/task/THREAD/syscall`: the call's number and its arguments, "running", or -1.
fn in_words(text: &str) -> Option<String> {
    let number: libc::c_long = text.split(' ').next()?.trim().parse().ok().filter(|&number| number >= 0)?;
    Some(match CALLS.iter().find(|(call, ..)| *call == number) {
        Some((_, name, what)) => format!("`{name}` (waits for {what})"),
        None => format!("system call {number}"),
    })
}

#[cfg(test)]
mod tests {
    use super::in_words;

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
