//! Tells the driver where the probe library was built, for use from the build tree; an installed one is found by its place.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let directory =
        env::var("DEP_CAUDAL_PROBE_LIB").expect("caudal-probe's build script says where its files are");
    println!("cargo::rustc-env=CAUDAL_PROBE_LIB={directory}");
}
