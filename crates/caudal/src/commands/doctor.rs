//! `caudal doctor`: what on this machine spoils latency, and what to do. It only reads the settings of the machine (`caudal-machine`
//! knows where they are) and prints; it changes none of them.

use std::path::PathBuf;
use std::process::ExitCode;

use caudal_machine::doctor::{Finding, Severity, examine, machine_at, this_machine};
use clap::Args;
use miette::IntoDiagnostic as _;

use crate::exit_code;
use crate::global::Global;

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Exit with 1 on warnings as well, not on serious findings alone
    #[arg(long)]
    strict: bool,
    /// Read /proc and /sys below this directory instead
    #[arg(long, value_name = "DIR", hide = true)]
    root: Option<PathBuf>,
}

pub(crate) fn run(args: &DoctorArgs, global: &Global) -> miette::Result<ExitCode> {
    let here = this_machine();
    let seen = match &args.root {
        Some(root) => machine_at(root, here.limits),
        None => here,
    };
    let findings = examine(&seen);
    for finding in &findings {
        if global.json {
            outln!("{}", serde_json::to_string(finding).into_diagnostic()?);
        } else {
            print(finding);
        }
    }
    if findings.is_empty() && !global.json {
        outln!("nothing was found that spoils latency; `caudal calibrate` measures what is left");
    }
    let bad = if args.strict { Severity::Warning } else { Severity::Serious };
    let no = findings.iter().any(|finding| finding.severity >= bad);
    Ok(if no { ExitCode::from(exit_code::NO) } else { ExitCode::SUCCESS })
}

fn print(finding: &Finding) {
    let severity = match finding.severity {
        Severity::Serious => "serious",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    outln!("{severity}: {} [{}]", finding.what, finding.name);
    outln!("  seen:  {}", finding.evidence);
    outln!("  to do: {}\n", finding.advice);
}
