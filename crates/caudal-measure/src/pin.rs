//! The processor on which a thread runs, and its priority. Contestants and calibrations pin their threads before they measure. It makes
//! system calls that change the calling thread only.

use std::fmt;
use std::io;
use std::mem;

/// Why a thread is not where it should be.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The CPU is not among those that this process may use.
    #[error(
        "CPU {cpu} is not one of those that this process may use ({allowed}); a cgroup, taskset or the machine decides that"
    )]
    NotAllowed {
        /// The processor that was asked for.
        cpu: usize,
        /// The processors that are allowed.
        allowed: CpuList,
    },
    /// Real-time priority needs a privilege.
    #[error(
        "SCHED_FIFO is not permitted: it needs CAP_SYS_NICE (root) or `ulimit -r {priority}` or more; in a container also a \
         share of real-time time"
    )]
    NoRealTime {
        /// The priority that was asked for.
        priority: u32,
    },
    /// Another refusal of the system.
    #[error("{call} failed: {source}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// CPU numbers in ascending order; printed as `0, 1, 4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join(", "))
    }
}

/// The CPUs that the calling thread may run on.
///
/// # Errors
/// If the system does not say (more than 1024 CPUs).
pub fn allowed_cpus() -> Result<CpuList, PinError> {
    // SAFETY: a cpu_set_t is plain bits; all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer and the size are those of `set`.
    if unsafe { libc::sched_getaffinity(0, mem::size_of_val(&set), &mut set) } != 0 {
        return Err(system("sched_getaffinity"));
    }
    // SAFETY: every number asked for is below CPU_SETSIZE, the size of the set in bits.
    let has = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    Ok(CpuList((0..libc::CPU_SETSIZE as usize).filter(has).collect()))
}

/// Pins the calling thread to one CPU. Threads that it starts afterwards inherit that.
///
/// # Errors
/// If the process may not use this CPU.
pub fn pin_to(cpu: usize) -> Result<(), PinError> {
    let allowed = allowed_on_any_thread()?;
    if !allowed.0.contains(&cpu) {
        return Err(PinError::NotAllowed { cpu, allowed });
    }
    // SAFETY: as in `allowed_cpus`; `cpu` is a bit of the set because the system has named it.
    let result = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, mem::size_of_val(&set), &set)
    };
    if result == 0 { Ok(()) } else { Err(system("sched_setaffinity")) }
}

/// The processors that the process may use, also when this thread is pinned already: the mask of its cpuset.
fn allowed_on_any_thread() -> Result<CpuList, PinError> {
    let here = allowed_cpus()?;
    let status = std::fs::read_to_string("/sys/fs/cgroup/cpuset.cpus.effective")
        .or_else(|_| std::fs::read_to_string("/sys/devices/system/cpu/online"));
    let Ok(list) = status else { return Ok(here) };
    let mut cpus = parse_ranges(&list).unwrap_or_default();
    cpus.extend(&here.0);
    cpus.sort_unstable();
    cpus.dedup();
    Ok(CpuList(cpus))
}

/// `0-2,5` as numbers.
fn parse_ranges(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(low.parse().ok()?..=high.parse::<usize>().ok()?);
    }
    Some(cpus)
}

/// Real-time priority of the calling thread, until this is dropped.
///
/// Keep it for less than 0.9 s at a stretch: the kernel gives a spinning real-time thread's core to others for 50 ms of
/// every second, which looks like a stall.
#[derive(Debug)]
pub struct RealTime {
    /// Priorities belong to a thread, so this must be dropped on the one that took it.
    not_send: std::marker::PhantomData<*const ()>,
}

impl RealTime {
    /// Puts the calling thread under SCHED_FIFO with a priority from 1 to 99.
    ///
    /// # Errors
    /// If that is not permitted; the message says what is missing.
    ///
    /// # Panics
    /// If the priority is not between 1 and 99.
    pub fn enter(priority: u32) -> Result<RealTime, PinError> {
        assert!((1..=99).contains(&priority), "a real-time priority is between 1 and 99, not {priority}");
        match set_scheduler(libc::SCHED_FIFO, priority) {
            Ok(()) => Ok(RealTime { not_send: std::marker::PhantomData }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(PinError::NoRealTime { priority })
            }
            Err(source) => Err(PinError::System { call: "sched_setscheduler", source }),
        }
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // Giving a priority up needs no privilege.
        let _ = set_scheduler(libc::SCHED_OTHER, 0);
    }
}

fn set_scheduler(policy: i32, priority: u32) -> io::Result<()> {
    // SAFETY: sched_param is plain integers; zero is valid, also for fields that some systems add.
    let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
    parameters.sched_priority = priority.cast_signed();
    // SAFETY: 0 is the calling thread; the pointer is valid for the call.
    if unsafe { libc::sched_setscheduler(0, policy, &parameters) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn system(call: &'static str) -> PinError {
    PinError::System { call, source: io::Error::last_os_error() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_there_and_may_be_pinned_elsewhere() {
        let allowed = allowed_cpus().unwrap();
        std::thread::spawn(move || {
            for &cpu in &allowed.0 {
                pin_to(cpu).unwrap();
                assert_eq!(allowed_cpus().unwrap(), CpuList(vec![cpu]));
                // SAFETY: no precondition.
                assert_eq!(unsafe { libc::sched_getcpu() }.cast_unsigned() as usize, cpu);
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
        let error = pin_to(1000).unwrap_err().to_string();
        assert!(error.starts_with("CPU 1000 is not one of"), "{error}");
        assert!(error.contains(&allowed_cpus().unwrap().0[0].to_string()), "{error}");
    }

    #[test]
    fn real_time_is_given_back_or_refused_with_what_is_missing() {
        // SAFETY: 0 is the calling thread.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        match RealTime::enter(10) {
            Ok(guard) => {
                assert_eq!(policy(), libc::SCHED_FIFO);
                drop(guard);
            }
            Err(error) => assert!(error.to_string().contains("CAP_SYS_NICE"), "{error}"),
        }
        assert_eq!(policy(), libc::SCHED_OTHER);
    }

    #[test]
    fn ranges_as_the_kernel_writes_them() {
        assert_eq!(parse_ranges("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(parse_ranges("\n"), Some(vec![]));
        assert_eq!(parse_ranges("x"), None);
    }
}
