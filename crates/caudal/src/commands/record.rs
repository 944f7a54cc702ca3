//! `caudal record`: the times that functions of a running program take, or that pass between two of its static probes, without a change
//! of that program. It writes a script for bpftrace, prints the script, and, where the user has the right to it, runs bpftrace and keeps
//! what it prints in a file.
//!
//! The kernel stops a thread at the beginning and at the end of every request, which costs a microsecond or two each time.
//! What that is here is measured, and said with what was recorded.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use caudal_policy::Picos;
use caudal_workload::show::Shown;
use clap::Args;
use miette::{IntoDiagnostic, miette};

use crate::exit::{Failure, Interrupted};
use crate::global::{self, Global};

/// The script in a results directory's place: beside the output.
const SCRIPT_ENDING: &str = "bt";
/// Calls of which the cost of a stop is measured.
const CALLS: u32 = 20_000;
/// How long attaching may take before that is given up.
const ATTACH: Duration = Duration::from_secs(10);

#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["function", "usdt"])))]
pub(crate) struct RecordArgs {
    /// A function whose calls are requests, as in './server:handle_get'; again for other classes. Of calls within calls,
    /// the outermost counts
    #[arg(long, value_name = "PROGRAM:FUNCTION", value_parser = TracedFunction::parse)]
    function: Vec<TracedFunction>,
    /// Static probes (USDT) at the beginning and at the end of requests, as in './server:app:begin..end'
    #[arg(long, value_name = "PROGRAM:PROVIDER:BEGIN..END", value_parser = ProbePair::parse)]
    usdt: Vec<ProbePair>,
    /// The key of a request that ends, where threads do several at a time: an argument of both static probes, such as arg0
    /// [default: the thread's]
    #[arg(long, value_name = "ARGUMENT", requires = "usdt", value_parser = ["arg0", "arg1", "arg2", "arg3"])]
    key: Option<String>,
    /// Only of this process
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// How long to record
    #[arg(long, value_name = "TIME", value_parser = Picos::parse, default_value = "10s")]
    duration: Picos,
    /// Where to write the times: CSV, class,service_ns
    #[arg(long, value_name = "FILE", default_value = "recorded.csv")]
    out: PathBuf,
    /// Print the script, and do nothing else
    #[arg(long)]
    print: bool,
}

/// A function of a program.
#[derive(Clone, Debug)]
struct TracedFunction {
    program: String,
    name: String,
}

/// Two static probes of a program.
#[derive(Clone, Debug)]
struct ProbePair {
    program: String,
    provider: String,
    begin: String,
    end: String,
}

impl TracedFunction {
    fn parse(text: &str) -> Result<TracedFunction, String> {
        let (program, name) = text.split_once(':').unwrap_or((text, ""));
        if program.is_empty() || name.is_empty() || name.contains(['"', '\n', '{', '}']) {
            return Err(
                "write the program's file, a colon and the function, as in './server:handle_get'".to_owned()
            );
        }
        Ok(TracedFunction { program: program.to_owned(), name: name.to_owned() })
    }
}

impl ProbePair {
    fn parse(text: &str) -> Result<ProbePair, String> {
        let wrong = || {
            "write the program's file, the provider, and the two probes, as in './server:app:begin..end'"
                .to_owned()
        };
        let mut parts = text.splitn(3, ':');
        let (Some(program), Some(provider), Some(probes)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong());
        };
        let (begin, end) = probes.split_once("..").ok_or_else(wrong)?;
        let parts = [program, provider, begin, end];
        if parts.iter().any(|part| part.is_empty() || part.contains(['"', '\n', '{', '}'])) {
            return Err(wrong());
        }
        let [program, provider, begin, end] = parts.map(str::to_owned);
        Ok(ProbePair { program, provider, begin, end })
    }
}

pub(crate) fn run(args: &RecordArgs, global: &Global) -> miette::Result<ExitCode> {
    let script = args.script()?;
    if args.print {
        out!("{script}");
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.out.with_extension(SCRIPT_ENDING);
    caudal_results::files::write_whole(&path, &script)?;
    if let Err(problem) = bpftrace().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status() {
        return Err(Failure(format!(
            "bpftrace can not be run ({problem}): install it (Debian: `apt-get install bpftrace`), and as root \
             `bpftrace -q {}` > {}; the script is written",
            path.display(),
            args.out.display()
        ))
        .into());
    }
    let stop_ns = stop_ns();
    let recorded = args.record(&path, global)?;
    if recorded.requests == 0 {
        return Err(Failure(format!(
            "no request was seen in {:.1} s: is the program running, and does it call what was named? bpftrace says: {}",
            recorded.seconds,
            recorded.said.trim()
        ))
        .into());
    }
    let shown = Shown::open(&args.out).map_err(|error| miette!("{error}"))?;
    if global.json {
        let mut json = shown.json();
        json["disturbed"] = recorded.json(stop_ns);
        outln!("{}", serde_json::to_string(&json).into_diagnostic()?);
    } else {
        out!("{}", shown.text(100));
        outln!("\n{}", recorded.disturbed(stop_ns));
    }
    errln!("wrote {} and {}", args.out.display(), path.display());
    if global::is_stopping() {
        return Err(
            Interrupted(format!(": {} requests are in {}", recorded.requests, args.out.display())).into()
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn bpftrace() -> Command {
    Command::new("bpftrace")
}

impl RecordArgs {
    /// The script of bpftrace.
    fn script(&self) -> miette::Result<String> {
        let seconds = self.duration.0.div_ceil(Picos::from_micros(1_000_000).0).max(1);
        let mut text = String::from(
            "// Times of requests, as CSV: class,service_ns. Run it as root, by `bpftrace -q`.\n",
        );
        text.push_str("BEGIN { printf(\"class,service_ns\\n\"); }\n");
        let here = self.pid.map_or_else(String::new, |pid| format!("pid == {pid} && "));
        for (number, point) in self.function.iter().enumerate() {
            let program = program(&point.program)?;
            let (name, class) = (&point.name, class(&point.name));
            // Calls within calls are of the same request.
            let _ = write!(
                text,
                "uprobe:{program}:{name} /{here}@depth{number}[tid] == 0/ {{ @begin{number}[tid] = nsecs; }}\n\
                 uprobe:{program}:{name} /{here}1/ {{ @depth{number}[tid] = @depth{number}[tid] + 1; }}\n\
                 uretprobe:{program}:{name} /{here}@depth{number}[tid] == 1 && @begin{number}[tid] > 0/ {{\n  \
                 printf(\"{class},%llu\\n\", nsecs - @begin{number}[tid]);\n  delete(@begin{number}[tid]);\n}}\n\
                 uretprobe:{program}:{name} /{here}@depth{number}[tid] > 0/ {{ @depth{number}[tid] = @depth{number}[tid] - 1; }}\n"
            );
        }
        for (number, pair) in self.usdt.iter().enumerate() {
            let program = program(&pair.program)?;
            let ProbePair { provider, begin, end, .. } = pair;
            let (class, key) = (class(begin), self.key.as_deref().unwrap_or("tid"));
            let _ = write!(
                text,
                "usdt:{program}:{provider}:{begin} /{here}1/ {{ @usdt{number}[{key}] = nsecs; }}\n\
                 usdt:{program}:{provider}:{end} /{here}@usdt{number}[{key}] > 0/ {{\n  \
                 printf(\"{class},%llu\\n\", nsecs - @usdt{number}[{key}]);\n  delete(@usdt{number}[{key}]);\n}}\n"
            );
        }
        let maps = (0..self.function.len()).flat_map(|n| [format!("@begin{n}"), format!("@depth{n}")]);
        let maps = maps.chain((0..self.usdt.len()).map(|n| format!("@usdt{n}")));
        let clear: String = maps.map(|map| format!(" clear({map});")).collect();
        let _ = write!(text, "interval:s:{seconds} {{ exit(); }}\nEND {{{clear} }}\n");
        Ok(text)
    }

    /// Runs the script, and writes what it prints.
    fn record(&self, script: &Path, global: &Global) -> miette::Result<Recording> {
        let failed = |what: &str, error: &dyn std::fmt::Display| Failure(format!("{what}: {error}"));
        let mut command = bpftrace();
        // Without -p a static probe behind a semaphore stays silent.
        if let Some(pid) = self.pid {
            command.args(["-p", &pid.to_string()]);
        }
        command
            .args(["-q", "-B", "full"])
            .arg(script)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed("bpftrace can not be run", &error))?;
        let said = child.stderr.take().expect("it is piped");
        let said = std::thread::spawn(move || std::io::read_to_string(said).unwrap_or_default());
        let out = std::fs::File::create(&self.out)
            .map_err(|error| failed(&format!("can not write `{}`", self.out.display()), &error))?;
        let mut out = BufWriter::new(out);
        let (mut requests, mut lost, mut started) = (0u64, 0u64, None);
        if !global.quiet {
            errln!("recording for {}; Ctrl-C ends it and keeps what there is", self.duration);
        }
        for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
            let line = line.map_err(|error| failed("bpftrace's output can not be read", &error))?;
            started.get_or_insert_with(Instant::now);
            if let Some(more) = lost_in(&line) {
                lost += more;
            } else if line.contains(',') {
                requests += 1;
                writeln!(out, "{line}")
                    .map_err(|error| failed(&format!("can not write `{}`", self.out.display()), &error))?;
            }
        }
        out.flush().map_err(|error| failed(&format!("can not write `{}`", self.out.display()), &error))?;
        let status = child.wait().map_err(|error| failed("bpftrace", &error))?;
        let said = said.join().unwrap_or_default();
        lost += said.lines().filter_map(lost_in).sum::<u64>();
        // The header is a line as well.
        let requests = requests.saturating_sub(1);
        if !status.success() && requests == 0 {
            return Err(failed(
                "bpftrace could not record (it has to be root, and the kernel has to permit it; `--print` gives the script)",
                &said.trim(),
            )
            .into());
        }
        let seconds = started.map_or(0.0, |started| started.elapsed().as_secs_f64());
        Ok(Recording { requests, lost, seconds, said })
    }
}

/// The outcome of a recording, and what recording cost the program.
struct Recording {
    requests: u64,
    lost: u64,
    seconds: f64,
    said: String,
}

impl Recording {
    /// Share of a core that the stops took.
    fn share(&self, stop_ns: f64) -> f64 {
        2.0 * self.requests as f64 * stop_ns / 1e9 / self.seconds.max(1e-9)
    }

    fn disturbed(&self, stop_ns: Option<f64>) -> String {
        let rate = self.requests as f64 / self.seconds.max(1e-9);
        let mut text = format!(
            "What it disturbed: {} requests ({rate:.0} a second) were stopped twice each.",
            self.requests
        );
        let _ = match stop_ns {
            Some(stop_ns) => write!(
                text,
                " A stop takes {:.1} µs here (measured), so the program lost {:.1} % of a core, and each time is too long by \
                 about one stop.",
                stop_ns / 1e3,
                100.0 * self.share(stop_ns)
            ),
            None => {
                write!(text, " What a stop takes here could not be measured; a microsecond or two is usual.")
            }
        };
        if self.lost > 0 {
            let _ = write!(
                text,
                " {} times were lost, because they came faster than they were read: record for a shorter time, or one process \
                 of several (--pid).",
                self.lost
            );
        }
        text
    }

    fn json(&self, stop_ns: Option<f64>) -> serde_json::Value {
        serde_json::json!({
            "requests": self.requests,
            "lost": self.lost,
            "seconds": self.seconds,
            "stop_ns": stop_ns,
            "core_share": stop_ns.map(|stop_ns| self.share(stop_ns)),
        })
    }
}

/// `Lost 12 events`
fn lost_in(line: &str) -> Option<u64> {
    line.trim().strip_prefix("Lost ")?.split(' ').next()?.parse().ok()
}

/// The time that one stop takes on this machine, in ns: of calls of the C library by this process, with probes and without.
fn stop_ns() -> Option<f64> {
    let calls = || {
        let started = Instant::now();
        for _ in 0..CALLS {
            std::hint::black_box(std::process::id());
        }
        started.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    let without = calls();
    let script = "BEGIN { printf(\"ready\\n\"); } uprobe:libc:getpid { @begin[tid] = nsecs; } \
                  uretprobe:libc:getpid { @last = nsecs - @begin[tid]; delete(@begin[tid]); } END { clear(@begin); clear(@last); }";
    let mut child = bpftrace()
        .args(["-q", "-B", "none", "-p", &std::process::id().to_string(), "-e", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut ready = String::new();
    let attached =
        BufReader::new(child.stdout.take()?).read_line(&mut ready).is_ok() && ready.trim() == "ready";
    // Probes are attached one after the other around BEGIN: until calls get slower.
    let deadline = Instant::now() + ATTACH;
    let mut with = without;
    while attached && with < 10.0 * without + 200.0 && Instant::now() < deadline && !global::is_stopping() {
        with = calls();
    }
    let measured = (with >= 10.0 * without + 200.0).then(|| (calls() - without) / 2.0);
    drop(child.kill());
    drop(child.wait());
    measured
}

/// The absolute path of a program, which probes are named by.
fn program(text: &str) -> miette::Result<String> {
    let path = std::fs::canonicalize(text).map_err(|error| {
        miette!(help = "give the program's file, as in ./server", "`{text}` can not be found: {error}")
    })?;
    let path = path.display().to_string();
    if path.contains([' ', '"', ':', '{']) {
        return Err(miette!(
            help = "make a link to it in another place",
            "bpftrace can not name `{path}`, for blanks, quotes, colons or braces in it"
        ));
    }
    Ok(path)
}

/// A name as a class may have it, within a text of printf.
fn class(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_alphanumeric() || letter == '_' { letter } else { '-' })
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(function: &[&str], usdt: &[&str]) -> RecordArgs {
        RecordArgs {
            function: function.iter().map(|text| TracedFunction::parse(text).unwrap()).collect(),
            usdt: usdt.iter().map(|text| ProbePair::parse(text).unwrap()).collect(),
            key: None,
            pid: Some(7),
            duration: Picos::from_micros(1_500_000),
            out: "recorded.csv".into(),
            print: true,
        }
    }

    #[test]
    fn the_script_times_the_outermost_calls() {
        let script =
            args(&["/proc/self/exe:handle_get"], &["/proc/self/exe:app:begin..end"]).script().unwrap();
        for part in [
            "printf(\"class,service_ns\\n\")",
            ":handle_get /pid == 7 && @depth0[tid] == 0/ { @begin0[tid] = nsecs; }",
            "printf(\"handle_get,%llu\\n\", nsecs - @begin0[tid]);",
            ":app:begin /pid == 7 && 1/ { @usdt0[tid] = nsecs; }",
            "interval:s:2 { exit(); }",
        ] {
            assert!(script.contains(part), "{part}: {script}");
        }
    }

    #[test]
    fn what_names_no_function_is_refused() {
        assert!(TracedFunction::parse("server").is_err() && TracedFunction::parse("a:b\"c").is_err());
        assert!(ProbePair::parse("server:app:begin").is_err() && ProbePair::parse("server:app").is_err());
        assert!(args(&["nowhere/at/all:f"], &[]).script().is_err());
        assert_eq!(class("ns::get<int>"), "ns--get-int-");
        assert_eq!(lost_in("Lost 12 events"), Some(12));
    }
}
