//! Limit of the number of stacks: how many there may be, what holds the number down, and how to lift it. Called by the pools of stacks.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::slab::GuardKind;
use super::strays::Strays;
use super::{PAGE, StackConfig, StackError};

/// Most stacks of one slab: some 10 MiB of addresses, and as many calls to the kernel at a time.
const SLAB_STACKS: usize = 32;
/// Slabs of a budget that is configured: so many can be given back one by one.
const SLABS_AT_LEAST: usize = 256;
/// Mappings left to the rest of the process: libraries, threads, allocators.
const SPARE_MAPPINGS: usize = 1000;
/// Pages that a stack is expected to touch: that of its top, and the next one below.
const TOUCHED_PAGES: usize = 2;

/// Most stacks that can be mapped, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackLimit {
    /// Number of stacks, of all pools that share the budget.
    pub stacks: usize,
    /// The reason why there are no more.
    pub by: LimitedBy,
}

/// Reasons for a limit of stacks. Sizes in bytes, counts as the kernel counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitedBy {
    /// [`StackConfig::limit`].
    Configuration,
    /// `vm.max_map_count`: this kernel makes guards by `mprotect`, two mappings a stack.
    MapCount {
        /// Its value.
        max: usize,
    },
    /// `RLIMIT_AS`: each stack takes its size and its guard.
    AddressSpace {
        /// Its value.
        max: usize,
    },
    /// `RLIMIT_DATA`: as address space.
    Data {
        /// Its value.
        max: usize,
    },
    /// Three quarters of the memory that was free (of the machine, or of the control group), at two touched pages
    /// and their page table a stack.
    Memory {
        /// Three quarters of that memory.
        bytes: usize,
    },
}

impl std::fmt::Display for StackLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at most {} stacks: ", self.stacks)?;
        match self.by {
            LimitedBy::Configuration => write!(f, "configured so; a larger limit, or none, allows more"),
            LimitedBy::MapCount { max } => write!(
                f,
                "vm.max_map_count is {max} and a guard takes two mappings; raise it (sysctl -w vm.max_map_count=…), or \
                 run Linux 6.13 or later, whose guards take none"
            ),
            LimitedBy::AddressSpace { max } => {
                write!(f, "RLIMIT_AS is {max} bytes; raise it (ulimit -v), or configure smaller stacks")
            }
            LimitedBy::Data { max } => {
                write!(f, "RLIMIT_DATA is {max} bytes; raise it (ulimit -d), or configure smaller stacks")
            }
            LimitedBy::Memory { bytes } => {
                write!(
                    f,
                    "{bytes} bytes, three quarters of the free memory, are for stacks; more memory allows more"
                )
            }
        }
    }
}

/// The stacks that the pools of a runtime may map together.
#[derive(Debug)]
pub struct StackBudget {
    pub(super) config: StackConfig,
    pub(super) guards: GuardKind,
    limit: StackLimit,
    /// Most stacks of a slab. Where few are allowed, slabs are small: one is given back when all of its stacks are idle.
    slab: usize,
    mapped: AtomicUsize,
    pub(super) strays: Strays,
}

impl StackBudget {
    /// Finds how many stacks this process may have, as it is now.
    ///
    /// # Errors
    /// [`StackError`] for sizes out of range, and when there cannot be a single stack.
    pub fn new(config: StackConfig) -> Result<Arc<Self>, StackError> {
        Self::with_guards(config, GuardKind::detect()?)
    }

    /// As [`Self::new`], with guards of this kind.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_guards(config: StackConfig, guards: GuardKind) -> Result<Arc<Self>, StackError> {
        let config = config.checked()?;
        let limit = limit_of(&config, guards);
        if limit.stacks == 0 {
            return Err(StackError::None(limit));
        }
        let slab = match limit.by {
            LimitedBy::Configuration => (limit.stacks / SLABS_AT_LEAST).clamp(1, SLAB_STACKS),
            _ => SLAB_STACKS,
        };
        Ok(Arc::new(Self {
            config,
            guards,
            limit,
            slab,
            mapped: AtomicUsize::new(0),
            strays: Strays::default(),
        }))
    }

    /// How many stacks there may be, and why not more.
    pub fn limit(&self) -> StackLimit {
        self.limit
    }

    /// How guards are made.
    pub fn guards(&self) -> GuardKind {
        self.guards
    }

    /// The configuration, in whole pages.
    pub fn config(&self) -> &StackConfig {
        &self.config
    }

    /// Stacks mapped now, taken or not, by all pools.
    pub fn mapped(&self) -> usize {
        self.mapped.load(Ordering::Relaxed)
    }

    /// A stack was leaked, with the coroutine of a request that overflowed: another one may be mapped in its place, unless it is the
    /// system that can not have more. Else requests would wait for ever once so many have overflowed as may be.
    pub fn replace_leaked(&self) {
        if matches!(self.limit.by, LimitedBy::Configuration) {
            self.release(1);
        }
    }

    /// Can no more be mapped?
    pub fn is_used_up(&self) -> bool {
        self.mapped() >= self.limit.stacks
    }

    /// Takes a slab's worth of stacks out of the budget, from one to `most`; `None` when it is used up.
    ///
    /// An eighth of what is left at most: the last ones are not hoarded by the pool that comes first.
    pub(super) fn reserve(&self, most: usize) -> Option<usize> {
        let share = |mapped: usize| match self.limit.stacks.saturating_sub(mapped) {
            0 => None,
            left => Some((left / 8).clamp(1, self.slab.min(most))),
        };
        let add = |mapped| share(mapped).map(|stacks| mapped + stacks);
        // A count alone: nothing is published by it.
        let before = self.mapped.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        share(before)
    }

    /// Puts unmapped stacks back.
    pub(super) fn release(&self, stacks: usize) {
        self.mapped.fetch_sub(stacks, Ordering::Relaxed);
    }
}

/// The lowest of all limits.
fn limit_of(config: &StackConfig, guards: GuardKind) -> StackLimit {
    let stride = config.stride();
    let configured = config.limit.map(|stacks| StackLimit { stacks, by: LimitedBy::Configuration });
    let mappings = (guards == GuardKind::Protect).then(|| {
        let max = number_in("/proc/sys/vm/max_map_count").unwrap_or(65_530);
        let used = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count());
        let stacks = max.saturating_sub(used + SPARE_MAPPINGS) / 2;
        StackLimit { stacks, by: LimitedBy::MapCount { max } }
    });
    let room =
        |max: usize, used: &str| max.saturating_sub(kib_of("/proc/self/status", used).unwrap_or(0)) / stride;
    let addresses = resource(libc::RLIMIT_AS)
        .map(|max| StackLimit { stacks: room(max, "VmSize:"), by: LimitedBy::AddressSpace { max } });
    let data = resource(libc::RLIMIT_DATA)
        .map(|max| StackLimit { stacks: room(max, "VmData:"), by: LimitedBy::Data { max } });
    // A page table of 4 KiB maps 2 MiB.
    let memory = free_memory().map(|free| {
        let bytes = free / 4 * 3;
        let stacks = bytes / (TOUCHED_PAGES * PAGE + stride / 512);
        StackLimit { stacks, by: LimitedBy::Memory { bytes } }
    });
    // Without any of them: 2^46 bytes of addresses, half of what a process has.
    let addressable = StackLimit { stacks: (1 << 46) / stride, by: LimitedBy::AddressSpace { max: 1 << 46 } };
    [configured, mappings, addresses, data, memory]
        .into_iter()
        .flatten()
        .fold(addressable, |least, next| if next.stacks < least.stacks { next } else { least })
}

/// A soft resource limit in bytes; `None` when it is infinite.
fn resource(which: libc::__rlimit_resource_t) -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes the structure that it is given.
    let status = unsafe { libc::getrlimit(which, &mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur as usize)
}

/// Free memory of the machine, or what its control groups (version 2) leave to this process if that is less; bytes.
fn free_memory() -> Option<usize> {
    let machine = kib_of("/proc/meminfo", "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let ancestors = Path::new(group).ancestors().map(|group| Path::new("/sys/fs/cgroup").join(group));
    let left = ancestors.filter_map(|group| {
        let used = number_in(group.join("memory.current")).unwrap_or(0);
        Some(number_in(group.join("memory.max"))?.saturating_sub(used))
    });
    Some(left.fold(machine, usize::min))
}

/// The number that is all of a file.
fn number_in(path: impl AsRef<Path>) -> Option<usize> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The bytes of a line such as `VmSize:   1234 kB`.
fn kib_of(path: &str, key: &str) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.trim().strip_suffix("kB")?.trim().parse::<usize>().ok().map(|kib| kib << 10)
}
