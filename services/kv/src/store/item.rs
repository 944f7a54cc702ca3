//! Items that somebody holds: read by a request, or filled by one before they are stored.
//! [`Store::get`](super::Store::get) and scans give [`Item`]s; connections fill [`Draft`]s.
//!
//! The bytes of an item are one allocation with a count of its holders. They never change while anybody else holds them, so a request that is
//! pre-empted while it copies a value to its reply has the value that it has read, however often the item is replaced, evicted or
//! flushed meanwhile. The memory limit is about what is stored: what is held beyond that is at most one value a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Home;

/// Bytes that an item takes beside its key and value: the counts of the allocation and what the allocator adds, its entry, and
/// its place in the table.
pub(super) const OVERHEAD_BYTES: usize = 96;

/// Bytes that are copied between two probes: some 100 ns.
const COPY_BYTES: usize = 4_096;

/// Bytes that an item of so many bytes of key and value takes.
pub(super) fn cost(key_and_value_bytes: usize) -> usize {
    key_and_value_bytes + OVERHEAD_BYTES
}

/// An item as it was when it was read.
#[derive(Clone, Debug)]
pub struct Item {
    pub(super) bytes: Arc<[u8]>,
    pub(super) key_bytes: u8,
    /// The flags that it was stored with.
    pub flags: u32,
    /// A number that changes whenever the value does, and that no other item of the store has had.
    pub cas: u64,
}

impl Item {
    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.bytes[..usize::from(self.key_bytes)]
    }

    /// The value.
    pub fn data(&self) -> &[u8] {
        &self.bytes[usize::from(self.key_bytes)..]
    }
}

/// A value that is not stored yet: its memory is taken, and its bytes come in any number of pieces. Who drops it gives the memory back.
#[derive(Debug)]
pub struct Draft {
    pub(super) bytes: Arc<[u8]>,
    pub(super) key_bytes: u8,
    /// The key's place, so that its hash is worked out once.
    pub(super) home: Home,
    filled: usize,
    pub(super) reserved: Reserved,
}

impl Draft {
    /// A draft with this key and room for a value of `data_bytes` bytes.
    pub(super) fn new(key: &[u8], data_bytes: usize, home: Home, reserved: Reserved) -> Draft {
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, key.len() + data_bytes).collect();
        Arc::get_mut(&mut bytes).expect("nobody else has it")[..key.len()].copy_from_slice(key);
        Draft { bytes, key_bytes: key.len() as u8, home, filled: key.len(), reserved }
    }

    /// Appends as many bytes of `data` as there is room for, and says how many. Long copies are pre-empted.
    pub fn fill(&mut self, data: &[u8]) -> usize {
        let room = &mut Arc::get_mut(&mut self.bytes).expect("nobody else has it")[self.filled..];
        let taken = data.len().min(room.len());
        for (to, from) in room[..taken].chunks_mut(COPY_BYTES).zip(data.chunks(COPY_BYTES)) {
            to.copy_from_slice(&from[..to.len()]);
            if to.len() == COPY_BYTES {
                caudal_probe::probe();
            }
        }
        self.filled += taken;
        taken
    }

    /// Bytes that are still to come.
    pub fn missing(&self) -> usize {
        self.bytes.len() - self.filled
    }

    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.bytes[..usize::from(self.key_bytes)]
    }

    /// The value, zeros where bytes are missing.
    pub(super) fn data(&self) -> &[u8] {
        &self.bytes[usize::from(self.key_bytes)..]
    }
}

/// Memory that counts as used, until it is given back or an item that is stored takes it over.
#[derive(Debug)]
pub(super) struct Reserved {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl Reserved {
    /// Counts `bytes` as used, and says how many are used with them.
    pub(super) fn take(used: &Arc<AtomicUsize>, bytes: usize) -> (Reserved, usize) {
        let before = used.fetch_add(bytes, Ordering::Relaxed);
        (Reserved { used: used.clone(), bytes }, before + bytes)
    }

    /// Leaves the memory counted: an item has it now.
    pub(super) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}
