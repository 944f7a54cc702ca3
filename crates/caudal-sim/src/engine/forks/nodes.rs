//! The progress of each request through its graph: for each node, how many others it still waits for, in memory that completed requests
//! hand on to new ones. `requests` keeps it, and asks at the end of each node which nodes are free.
//!
//! ```text
//!   | request 0: 3 nodes, . | request 1: 1 | request 2: 2 |  .  .  .  .  |
//!     4 places                1              2                free, 4 places
//! ```
//!
//! A request has a run of places that is a power of two long, and gives it back; so memory grows to what was active at
//! once, and then no more.

/// A node of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// Work of each leaf; the first `longer` have 1 ps more.
    leaf_ps: u64,
    longer: u32,
    leaves: u32,
    /// Leaves that are not done.
    left: u32,
    /// Nodes before it that are not done.
    blocked: u32,
}

impl Node {
    /// A node with `work_ps` in `leaves`, after `before` others.
    pub(super) fn new(work_ps: u64, leaves: u32, before: u32) -> Node {
        let leaf_ps = work_ps / u64::from(leaves);
        let longer = (work_ps - leaf_ps * u64::from(leaves)) as u32;
        Node { leaf_ps, longer, leaves, left: leaves, blocked: before }
    }

    #[inline(always)]
    pub(super) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// Work of its leaves `from` to before `to`.
    #[inline(always)]
    pub(super) fn work_ps(&self, from: u32, to: u32) -> u64 {
        let longer = to.min(self.longer).saturating_sub(from);
        self.leaf_ps * u64::from(to - from) + u64::from(longer)
    }

    /// Is any leaf of it not done?
    #[inline(always)]
    pub(super) fn is_left(&self) -> bool {
        self.left > 0
    }

    /// So many leaves are done; are all of them?
    #[inline(always)]
    pub(super) fn done(&mut self, leaves: u32) -> bool {
        self.left -= leaves;
        self.left == 0
    }

    /// One of the nodes before it is done; are all of them?
    #[inline(always)]
    pub(super) fn unblock(&mut self) -> bool {
        self.blocked -= 1;
        self.blocked == 0
    }
}

/// The nodes of all requests.
pub(super) struct Nodes {
    places: Vec<Node>,
    /// Runs that nobody has, by the logarithm of their length.
    free: [Vec<u32>; u32::BITS as usize],
}

impl Nodes {
    pub(super) fn new() -> Nodes {
        Nodes { places: Vec::new(), free: std::array::from_fn(|_| Vec::new()) }
    }

    fn size(count: usize) -> usize {
        count.next_power_of_two().trailing_zeros() as usize
    }

    /// The first of `count` places, at least one; [`Nodes::give_back`] wants to hear the same count.
    pub(super) fn take(&mut self, count: usize) -> u32 {
        let size = Nodes::size(count);
        self.free[size].pop().unwrap_or_else(|| {
            let first = self.places.len();
            self.places.resize(first + (1 << size), Node::default());
            assert!(
                self.places.len() < u32::MAX as usize,
                "the nodes of all active requests have names of 32 bits"
            );
            first as u32
        })
    }

    pub(super) fn give_back(&mut self, first: u32, count: usize) {
        self.free[Nodes::size(count)].push(first);
    }

    #[inline(always)]
    pub(super) fn get(&self, place: u32) -> &Node {
        &self.places[place as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, place: u32) -> &mut Node {
        &mut self.places[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_leave_make_room_for_others() {
        let mut nodes = Nodes::new();
        let first = [1, 3, 4, 2, 8].map(|count| nodes.take(count));
        assert_eq!(first, [0, 1, 5, 9, 11]);
        nodes.give_back(1, 3);
        nodes.give_back(0, 1);
        assert_eq!([nodes.take(1), nodes.take(4), nodes.take(3)], [0, 1, 19]);
        assert_eq!(nodes.places.len(), 23);
        // However many come and go.
        for round in 0..1_000 {
            let count = [1, 3, 4][round % 3];
            let place = nodes.take(count);
            nodes.give_back(place, count);
        }
        assert_eq!(nodes.places.len(), 28, "one more of one, one more of four");
    }

    #[test]
    fn leaves_have_all_the_work() {
        let mut node = Node::new(10, 4, 2);
        assert_eq!((0..4).map(|leaf| node.work_ps(leaf, leaf + 1)).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert_eq!((node.work_ps(0, 4), node.work_ps(1, 3)), (10, 5));
        assert!(!node.done(3) && node.done(1) && !node.unblock() && node.unblock());
    }
}
