//! The generator against services whose behaviour is known: simulated ones by a simulated clock, and real sockets on loopback.

mod memcached;
mod servers;
mod simulated;
mod simulation;
mod sockets;
