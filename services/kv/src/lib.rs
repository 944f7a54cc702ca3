//! The cache service: its store now, its sessions and sockets when they are built.
//! `caudal serve kv` runs it; tests and benchmarks call the store alone.

pub mod store;
