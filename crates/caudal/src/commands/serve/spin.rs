//! `caudal serve spin`: the service of synthetic work on sockets. Workers call [`Busy`] for each datagram and each message of a connection; a
//! request says its class and how long the worker is to be busy.

use std::process::ExitCode;

use caudal_net::{Answers, Origin, Served as Done};
use caudal_policy::Picos;
use caudal_proto::spin::{REQUEST_BYTES, Request};
use caudal_rt::ClassId;
use caudal_spin::messages;
use caudal_spin::service::{Classes, Config, Replies, Service, WORK_NS_MAX};
use clap::Args;
use miette::{IntoDiagnostic as _, miette};

use super::super::arrives::Arrives;
use super::metrics::Served;
use super::options::Common;
use super::running::{Offer, serve};
use crate::global::Global;

#[derive(Args, Debug)]
pub(super) struct SpinArgs {
    #[command(flatten)]
    common: Common,
    /// The workload, for the names of its classes: the generator draws the times
    #[command(flatten)]
    arrives: Arrives,
    /// The most work of a request; one that asks for more is refused
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = Picos::parse, allow_hyphen_values = true)]
    work_max: Picos,
}

pub(super) fn run(args: &SpinArgs, global: &Global) -> miette::Result<ExitCode> {
    let (builder, policy) = args.common.builder("spin")?;
    let (workload, _) = args.arrives.read()?;
    let names = workload.service.classes();
    let classes = if names.is_empty() { vec!["work".to_owned()] } else { names.to_vec() };
    let work_ns_max = args.work_max.0 / 1_000;
    if work_ns_max == 0 || work_ns_max > WORK_NS_MAX {
        return Err(miette!(
            help = "write a time from 1ns to 600s",
            "--work-max {} can not be had",
            args.work_max
        ));
    }
    errln!("calibrating the work, a fifth of a second");
    let config = Config { classes, work_ns_max, replies: Replies::WithTimes };
    let service = Service::calibrate(config).into_diagnostic()?;
    let classes = Classes::new(&service, |name| builder.class(name)).into_diagnostic()?;
    let offer = Offer {
        name: "spin",
        service: Busy { service, classes },
        datagram_bytes_max: 2_048,
        input_bytes_max: 64 * REQUEST_BYTES,
    };
    serve(&args.common, (builder, policy), offer, &Served::default(), global)
}

/// The service as the sockets call it.
struct Busy {
    service: Service,
    classes: Classes<ClassId>,
}

impl caudal_net::Service for Busy {
    type Session = ();

    fn class(&self, _: Origin<'_, ()>, bytes: &[u8]) -> ClassId {
        // What is no request is answered, or refused, at once.
        let first = messages::peek(bytes).unwrap_or(Request { number: 0, class: 0, work_ns: 0 });
        self.classes.of(&first)
    }

    fn datagram(&self, bytes: &[u8], answers: &mut Answers) {
        messages::datagram(&self.service, bytes, self.service.now(), answers.bytes());
    }

    fn stream(&self, (): &mut (), bytes: &[u8], answer: &mut Vec<u8>) -> Done {
        messages::serve(&self.service, bytes, self.service.now(), answer)
    }
}
