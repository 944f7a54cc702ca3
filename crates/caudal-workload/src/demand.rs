//! One request's demand, the item of every stream of service times; recorded graphs and the service's tables hold it too.
//! Used by `arrivals::sampler`, `dag::graphs`, `service::sampler` and others.

/// One request's demand. 16 bytes, so that a batch stays in L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Demand {
    /// Work of the request run alone, in ps; at least 1.
    pub service_ps: u64,
    /// Index into [`crate::Service::classes`].
    pub class: u8,
}
