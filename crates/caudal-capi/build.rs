//! Tells the installer where the probe's library and header are.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (name, metadata) in
        [("CAUDAL_PROBE_LIB", "DEP_CAUDAL_PROBE_LIB"), ("CAUDAL_PROBE_INCLUDE", "DEP_CAUDAL_PROBE_INCLUDE")]
    {
        let value = env::var(metadata).expect("caudal-probe's build script says where its files are");
        println!("cargo::rustc-env={name}={value}");
    }
}
