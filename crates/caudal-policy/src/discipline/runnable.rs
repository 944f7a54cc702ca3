//! Disciplines that a runtime on real cores can run: one list, from which the runtime refuses all others and matches these, and from which
//! the reference pages say which ones there are.

use super::{DisciplineConfig, LasConfig, ProcessorSharingConfig};

macro_rules! runnable {
    ($($name:literal $variant:ident $(($config:ident))?,)+) => {
        /// A discipline that a runtime can run. See the [module](self).
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Runnable {
            $(
                #[doc = concat!("`", $name, "` of policy files.")]
                $variant $(($config))?,
            )+
        }

        impl Runnable {
            /// Names in policy files.
            pub const NAMES: &[&str] = &[$($name),+];
            /// Advice for a user who has asked for another discipline.
            pub const ADVICE: &str = concat!("a runtime runs", $(" \"", $name, "\"",)+ ": take one of these");
        }
    };
}

runnable! {
    "fcfs" Fcfs,
    "processor-sharing" ProcessorSharing(ProcessorSharingConfig),
    "las" Las(LasConfig),
}

impl Runnable {
    /// The discipline of `config`, if a runtime can run it. A new discipline is decided upon here.
    pub fn of(config: DisciplineConfig) -> Option<Runnable> {
        match config {
            DisciplineConfig::Fcfs => Some(Runnable::Fcfs),
            DisciplineConfig::ProcessorSharing(config) => Some(Runnable::ProcessorSharing(config)),
            DisciplineConfig::Las(config) => Some(Runnable::Las(config)),
            // It knows service times in advance.
            DisciplineConfig::Srpt => None,
            // Started requests would have to move from lane to lane.
            DisciplineConfig::PreemptiveSita(_)
            | DisciplineConfig::SqdSita(_)
            | DisciplineConfig::IsqdSita(_) => None,
        }
    }
}
