//! The demand of one request: its service time and its class. Samplers of services fill batches of it, and the simulator and load
//! generators read them. Data only; a file of its own because everything below needs it.

/// One request's demand. 16 bytes, so that a batch stays in L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Demand {
    /// Work of the request run alone, in ps; at least 1.
    pub service_ps: u64,
    /// Index into [`crate::Service::classes`].
    pub class: u8,
}
