//! Functions for requests, about themselves and others: yield, end when it was cancelled, not be pre-empted for a while, and submit
//! further requests.

pub(crate) mod handle;
mod reply;
mod scope;
pub(crate) mod submit;

pub use crate::kernel::context::check_cancelled;
pub use reply::Sinks;
pub(crate) use scope::scope_in;
pub use scope::{Scope, ScopedHandle, scope};

use caudal_probe as probe;

use crate::kernel::context::current;
use crate::request::class::ClassId;
use crate::request::failure::SubmitError;
use crate::task::handle::Handle;
use crate::task::submit::RequestBuilder;

/// Lets others run, as if the request's quantum were over; on a thread that is no worker's, lets the system run another one.
///
/// The discipline decides which request runs next: one that runs requests to completion, such as FCFS, goes on with the same. So
/// do not wait for others in a loop of this; wait at something in [`sync`](crate::sync).
///
/// # Panics
/// Where a request must not wait: in a critical section, and while a panic unwinds.
pub fn yield_now() {
    let Some(me) = current() else { return std::thread::yield_now() };
    me.end_if_cancelled();
    me.yield_now();
    check_cancelled();
}

/// Runs `section` without being pre-empted: a yield that comes due meanwhile happens at its end. For what must not be shared with
/// the worker's other requests half done, such as a thread-local `RefCell` or a lock of another library. Sections nest; how
/// long the outermost one takes is recorded.
///
/// Nothing else runs on the worker meanwhile: a section of more than a quantum makes all others late. Waiting inside is an
/// error, which panics; a panic leaves the section.
pub fn no_preempt<R>(section: impl FnOnce() -> R) -> R {
    /// Code that unwinds may not come to the exits of sections that it has entered by hand.
    struct Outwards(u32);
    impl Drop for Outwards {
        fn drop(&mut self) {
            if std::thread::panicking() {
                probe::critical_restore(self.0);
            }
        }
    }
    let _outwards = Outwards(probe::critical_depth());
    probe::measured(section)
}

/// Submits a further request to the runtime of the calling one. See [`Runtime::submit`](crate::Runtime::submit), which works from
/// anywhere.
///
/// # Errors
/// [`SubmitError`].
///
/// # Panics
/// If the caller is no request.
pub fn spawn<F, T>(class: ClassId, job: F) -> Result<Handle<T>, SubmitError>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let me = current().expect("spawn outside of a request: there is no runtime to take; use Runtime::submit");
    let shared = me.share();
    RequestBuilder::of(&shared, class).submit(job)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Builder, Pinning, probe as yields};

    #[test]
    fn how_long_critical_sections_take_is_recorded_by_class() {
        let text = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
            discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
        let runtime = Builder::parse(text, "test.toml").unwrap().pinning(Pinning::None).start().unwrap();
        let class = runtime.class("x").unwrap();
        let long = || {
            let until = crate::base::clock::now() + 100_000;
            while crate::base::clock::now() < until {
                yields();
            }
        };
        no_preempt(long);
        let work = move || no_preempt(|| no_preempt(long));
        (0..5).for_each(|_| runtime.submit(class, work).unwrap().wait().unwrap());
        let snapshot = runtime.stats();
        let sections = &snapshot.class("x").unwrap().sections;
        assert_eq!(sections.count(), 5, "the outermost ones, of requests");
        let least_ns = 100_000.0 / runtime.shared().clock.hz() * 1e9;
        assert!(sections.percentile(0.0) >= least_ns * (1.0 - 2.0 * crate::board::histogram::RELATIVE_ERROR));
    }
}
