//! `caudal serve`: a service on sockets, whose requests run under a policy on real cores until it is told to stop. `kv` and `spin` say what a
//! request is, `options` where the service listens and on which cores it runs, `running` starts, watches and ends it.

mod kv;
mod metrics;
mod options;
mod running;
mod spin;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::global::Global;

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    service: ServeCommand,
}

#[derive(Subcommand, Debug)]
enum ServeCommand {
    /// A cache that speaks memcached's text protocol, with scans; TCP, UDP and Unix sockets
    Kv(Box<kv::KvArgs>),
    /// Calibrated work: each request says how long the server is to be busy with it
    Spin(Box<spin::SpinArgs>),
}

pub(crate) fn run(args: &ServeArgs, global: &Global) -> miette::Result<ExitCode> {
    match &args.service {
        ServeCommand::Kv(args) => kv::run(args, global),
        ServeCommand::Spin(args) => spin::run(args, global),
    }
}
