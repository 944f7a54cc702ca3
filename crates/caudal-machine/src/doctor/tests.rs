//! Machines laid out as files, one fault each.

use super::*;

const PRIVILEGED: Limits = Limits { cpus: 2, real_time_priority: 0, privileged: true };

/// A machine on which nothing is to be found.
const SOUND: &[(&str, &str)] = &[
    ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n"),
    ("proc/stat", "cpu  100 0 100 100000 0 0 0 0 0 0\n"),
    ("proc/cmdline", "root=/dev/sda1 isolcpus=1 nohz_full=1"),
    ("proc/self/cgroup", "0::/\n"),
    ("proc/sys/kernel/osrelease", "6.18.1\n"),
    ("proc/sys/vm/max_map_count", "1048576\n"),
    ("proc/self/timerslack_ns", "50000\n"),
    ("proc/sys/kernel/watchdog", "0\n"),
    ("sys/devices/system/cpu/isolated", "1\n"),
    ("sys/devices/system/cpu/nohz_full", "1\n"),
    ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n"),
    ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("sys/bus/event_source/devices/cpu/type", "4\n"),
];

/// The findings on the sound machine once it has `files` instead of its own.
fn found(files: &[(&str, &str)], limits: Limits) -> Vec<Finding> {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in SOUND.iter().chain(files) {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    examine(&machine_at(root.path(), limits))
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    assert_eq!(found(&[], PRIVILEGED), []);
}

#[test]
fn every_fault_is_found_alone_with_what_stands_there() {
    /// Name, severity, files with their texts, and what is to be said.
    type Case = (&'static str, Severity, &'static [(&'static str, &'static str)], &'static str);
    let cases: &[Case] = &[
        (
            "time-stamp-counter",
            Severity::Serious,
            &[("proc/cpuinfo", "flags : tsc constant_tsc\n")],
            "/proc/cpuinfo: flags lack nonstop_tsc",
        ),
        (
            "virtual-machine",
            Severity::Note,
            &[("proc/cpuinfo", "flags : constant_tsc nonstop_tsc hypervisor\n")],
            "/proc/cpuinfo: flags has hypervisor",
        ),
        (
            "smt",
            Severity::Warning,
            &[("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n")],
            "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list: 0-1",
        ),
        (
            "frequency-scaling",
            Severity::Warning,
            &[("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n")],
            "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor: powersave",
        ),
        (
            "turbo",
            Severity::Note,
            &[("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")],
            "/sys/devices/system/cpu/intel_pstate/no_turbo: 0",
        ),
        (
            "turbo",
            Severity::Note,
            &[("sys/devices/system/cpu/cpufreq/boost", "1\n")],
            "/sys/devices/system/cpu/cpufreq/boost: 1",
        ),
        (
            "deep-sleep",
            Severity::Warning,
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "1\n"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n"),
            ],
            "/sys/devices/system/cpu/cpu0/cpuidle/state1/latency: 133",
        ),
        (
            "steal-time",
            Severity::Warning,
            &[("proc/stat", "cpu  100 0 100 10000 0 0 0 100 0 0\n")],
            "/proc/stat: cpu  100 0 100 10000 0 0 0 100 0 0",
        ),
        (
            "cpu-quota",
            Severity::Serious,
            &[("proc/self/cgroup", "0::/a/b\n"), ("sys/fs/cgroup/a/cpu.max", "150000 100000\n")],
            "/sys/fs/cgroup/a/cpu.max: 150000 100000",
        ),
        (
            "cpu-quota",
            Severity::Serious,
            &[
                ("proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n"),
                ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n"),
            ],
            "/sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us: 50000",
        ),
        (
            "kernel-version",
            Severity::Note,
            &[("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n")],
            "/proc/sys/kernel/osrelease: 6.1.0-13-amd64",
        ),
        (
            "timer-ticks",
            Severity::Note,
            &[("sys/devices/system/cpu/nohz_full", "(null)\n"), ("boot/config-6.18.1", "CONFIG_HZ=250\n")],
            "CONFIG_HZ=250; /sys/devices/system/cpu/nohz_full: (null)",
        ),
        (
            "no-isolated-processors",
            Severity::Note,
            &[("proc/cmdline", "quiet"), ("sys/devices/system/cpu/isolated", "\n")],
            "/sys/devices/system/cpu/isolated: empty; /proc/cmdline: no isolcpus=",
        ),
        (
            "huge-pages",
            Severity::Warning,
            &[("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")],
            "/sys/kernel/mm/transparent_hugepage/enabled: [always] madvise never",
        ),
        (
            "max-map-count",
            Severity::Warning,
            &[("proc/sys/vm/max_map_count", "1000\n")],
            "/proc/sys/vm/max_map_count: 1000",
        ),
        (
            "real-time-throttling",
            Severity::Note,
            &[
                ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
                ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
            ],
            "/proc/sys/kernel/sched_rt_runtime_us: 950000",
        ),
        ("watchdog", Severity::Note, &[("proc/sys/kernel/watchdog", "1\n")], "/proc/sys/kernel/watchdog: 1"),
        (
            "timer-slack",
            Severity::Warning,
            &[("proc/self/timerslack_ns", "1000000\n")],
            "/proc/self/timerslack_ns: 1000000",
        ),
    ];
    for (name, severity, files, evidence) in cases {
        let findings = found(files, PRIVILEGED);
        let [finding] = &findings[..] else { panic!("{name}: {findings:?}") };
        assert_eq!(
            (finding.name, finding.severity, finding.evidence.as_str()),
            (*name, *severity, *evidence)
        );
        assert!(!finding.advice.is_empty(), "{name}");
    }
}

#[test]
fn what_system_calls_say() {
    let one = found(&[], Limits { cpus: 1, ..PRIVILEGED });
    assert_eq!(one.iter().map(|finding| finding.name).collect::<Vec<_>>(), ["one-processor"]);
    let part = found(&[("sys/devices/system/cpu/cpu2/online", "1")], PRIVILEGED);
    assert_eq!(part.iter().map(|finding| finding.name).collect::<Vec<_>>(), ["part-of-processors"]);
    let ordinary = found(&[], Limits { privileged: false, ..PRIVILEGED });
    assert_eq!(ordinary.iter().map(|finding| finding.name).collect::<Vec<_>>(), ["no-real-time"]);
}

#[test]
fn missing_counters_are_seen() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("sys/bus/event_source/devices/software")).unwrap();
    let findings = examine(&machine_at(root.path(), PRIVILEGED));
    assert!(findings.iter().any(|finding| finding.name == "no-counters"), "{findings:?}");
}

#[test]
fn the_worst_comes_first() {
    let findings = found(
        &[
            ("proc/sys/kernel/watchdog", "1\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "1000 100000\n"),
        ],
        PRIVILEGED,
    );
    assert_eq!(findings.iter().map(|finding| finding.name).collect::<Vec<_>>(), ["cpu-quota", "watchdog"]);
}

#[test]
fn a_machine_that_says_nothing_has_no_fault_of_files() {
    let root = tempfile::tempdir().unwrap();
    let names: Vec<_> =
        examine(&machine_at(root.path(), PRIVILEGED)).iter().map(|finding| finding.name).collect();
    // Without any word on ticks, the kernel's default holds.
    assert_eq!(names, ["timer-ticks"]);
}
