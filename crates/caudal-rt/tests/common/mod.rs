//! Runtimes for tests.

use caudal_config::{File, Host, Options};
use caudal_rt::{Builder, Pinning, Runtime};

/// The builder of a runtime with processor sharing, with a dispatcher or without one.
pub(crate) fn builder(workers: usize, two_level: bool) -> Builder {
    let dispatch = if two_level { "{ policy = \"jsq\", ties = \"msq\" }" } else { "{ policy = \"random\" }" };
    let text = format!(
        "[system]\ncores = {workers}\npools = \"per-core\"\ndispatch = {dispatch}\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"2us\" }}\n"
    );
    let options = Options { host: Host::Runtime, ..Options::default() };
    let file = File::parse_with(&text, "test.toml", &options).unwrap();
    Builder::of(file.systems.into_iter().next().unwrap())
}

/// A runtime of which `with` changes what it likes.
pub(crate) fn runtime(workers: usize, two_level: bool, with: impl FnOnce(Builder) -> Builder) -> Runtime {
    with(builder(workers, two_level).pinning(Pinning::None)).start().unwrap()
}

/// `count` probes, a few hundred nanoseconds apart in all: time in which a request may be pre-empted.
#[allow(dead_code)]
pub(crate) fn probes(count: u32) {
    for turn in 0..count * 8 {
        std::hint::black_box(turn);
        std::hint::spin_loop();
        if turn % 8 == 0 {
            caudal_rt::probe();
        }
    }
}

/// Waits for all of them, none of which may fail.
#[allow(dead_code)]
pub(crate) fn all<T>(handles: Vec<caudal_rt::Handle<T>>) {
    handles.into_iter().for_each(|handle| drop(handle.wait().expect("it ends by returning")));
}
