//! Names of things that hosts own and policies point at: tasks, workers, pools. A host makes them from the indices of its own tables; policies
//! compare them and hand them back.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the host's tables.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A set of workers that share queues and one instance of a discipline.
    PoolId
}
id! {
    /// A scheduler bound to a core, or to one hardware context of a core.
    WorkerId
}
id! {
    /// A schedulable piece of a request; the whole of it unless it forks.
    TaskId
}
