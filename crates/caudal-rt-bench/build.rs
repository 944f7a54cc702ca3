//! Compiles the work in C: by whatever compiler the user names, with probes or without.

fn main() {
    println!("cargo::rerun-if-changed=csrc");
    cc::Build::new()
        .file("csrc/job.c")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag("-std=gnu99")
        .compile("caudal_bench_job");
}
