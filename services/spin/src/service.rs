//! The service: it refuses a request, or is busy for as long as the request says. The program makes one [`Service`] when it starts a server, and
//! all workers share it; [`messages`](crate::messages) call it once for each request, on the worker that runs the request.
//!
//! Work is a number of iterations that was calibrated before, and never "until the clock says so": such work would finish for free while its
//! request is set aside (see [`caudal_measure::work`]). It is cut into chunks of some 200 ns with a probe between two of them.
//!
//! ```text
//!  request   chunk  probe  chunk  probe │ others run │ chunk          sojourn: all of it, from the arrival on
//!            └────┘        └────┘                      └────┘         service: the chunks
//! ```

use caudal_measure::clock::{self, ClockError, Tsc};
use caudal_measure::work::{Work, iterate};
use caudal_proto::spin::{Reply, Request, Status, Times};

/// A server's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The names of the classes, in the order of the numbers that requests have: those of the workload. At least one.
    pub classes: Vec<String>,
    /// The most work of a request, in nanoseconds; a request for more is answered [`Status::Invalid`]. At most ten minutes.
    pub work_ns_max: u64,
    /// Whether replies have the server's times.
    pub replies: Replies,
}

/// The contents of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// Replies have sojourn and service time, as the server measured them.
    WithTimes,
    /// Replies have the fate of the request only.
    Bare,
}

/// The most that [`Config::work_ns_max`] may be: ten minutes.
pub const WORK_NS_MAX: u64 = 600_000_000_000;

impl Default for Config {
    /// One class, `work`, of at most a second, and replies with times.
    fn default() -> Config {
        Config { classes: vec!["work".to_owned()], work_ns_max: 1_000_000_000, replies: Replies::WithTimes }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Service {
    config: Config,
    work: Work,
    tsc: Tsc,
}

impl Service {
    /// A server whose work is calibrated on the calling thread, which should be pinned to a core where the work will run. It takes some 150 ms.
    ///
    /// # Errors
    /// [`ClockError`], if the machine has no time stamp counter that can be used.
    ///
    /// # Panics
    /// As [`Service::new`].
    pub fn calibrate(config: Config) -> Result<Service, ClockError> {
        let tsc = Tsc::calibrate()?;
        Ok(Service::new(config, Work::calibrate(tsc), tsc))
    }

    /// A server for a machine whose speed is known.
    ///
    /// # Panics
    /// If there is no class, more of them than a request can name, or a longer most work than [`WORK_NS_MAX`].
    pub fn new(config: Config, work: Work, tsc: Tsc) -> Service {
        let classes = config.classes.len();
        assert!((1..=1 << 16).contains(&classes), "{classes} classes; there must be 1 to 65,536");
        let most = config.work_ns_max;
        assert!(most <= WORK_NS_MAX, "work of {most} ns; allow {WORK_NS_MAX} ns at most");
        Service { config, work, tsc }
    }

    /// The configuration that it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The speed of the machine, as it was calibrated.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The time, in ticks of the time stamp counter: when a request has arrived.
    pub fn now(&self) -> u64 {
        clock::now_after_all()
    }

    /// Carries out a request that has arrived when the time stamp counter was `arrival`. It is pre-empted at probes.
    pub fn carry_out(&self, request: &Request, arrival: u64) -> Reply {
        let reply = |status, times| Reply { number: request.number, class: request.class, status, times };
        if usize::from(request.class) >= self.config.classes.len()
            || request.work_ns > self.config.work_ns_max
        {
            return reply(Status::Invalid, None);
        }
        let busy_ticks = self.work_for(request.work_ns);
        match self.config.replies {
            Replies::Bare => reply(Status::Done, None),
            Replies::WithTimes => {
                // The counters of two cores may differ by some ticks.
                let sojourn_ticks = clock::now_after_all().saturating_sub(arrival);
                let times = Times {
                    sojourn_ns: self.tsc.to_ns(sojourn_ticks.max(busy_ticks)),
                    service_ns: self.tsc.to_ns(busy_ticks),
                };
                reply(Status::Done, Some(times))
            }
        }
    }

    /// The answer to a request that the server has no room for.
    pub fn refuse(&self, request: &Request) -> Reply {
        Reply { number: request.number, class: request.class, status: Status::Overloaded, times: None }
    }

    /// Is busy for `work_ns` of an undisturbed core, and says how many ticks the chunks took, stalls of the machine included.
    fn work_for(&self, work_ns: u64) -> u64 {
        if work_ns == 0 {
            return 0;
        }
        let job = self.work.job(work_ns);
        let mut busy_ticks = 0;
        for chunk in 0..job.chunks {
            if chunk > 0 {
                caudal_probe::probe();
            }
            // The two readings belong to a chunk, whose iterations are fewer for them.
            let start = clock::now();
            iterate(job.iterations);
            busy_ticks += clock::now_after_all().saturating_sub(start);
        }
        busy_ticks
    }
}

/// The classes of a runtime, by the numbers that requests have; `C` is its `ClassId`.
#[derive(Clone, Debug)]
pub struct Classes<C>(Vec<C>);

impl<C: Copy> Classes<C> {
    /// Classes by the names of a service's. `class` gives the class of a name, as `Builder::class` and `Runtime::class` do.
    ///
    /// # Errors
    /// The first error of `class`.
    pub fn new<E>(service: &Service, class: impl FnMut(&str) -> Result<C, E>) -> Result<Classes<C>, E> {
        service.config.classes.iter().map(String::as_str).map(class).collect::<Result<_, _>>().map(Classes)
    }

    /// The class of a request: the first one, if the request has none that there is, because it is answered at once.
    #[inline]
    pub fn of(&self, request: &Request) -> C {
        self.0.get(usize::from(request.class)).copied().unwrap_or(self.0[0])
    }
}
