//! The commands: the effect of each on the store, and its answer. Sessions call [`Call::retrieve`] for each `get` and its like, which may stop in
//! the middle, and [`Call::carry_out`] for each other command, on the worker that runs the request.

use std::ops::ControlFlow;

use caudal_proto::text::{Line, Request, Scan, ScanStart, StoreLine, StoreMode, value_bytes};

use super::Call;
use crate::store::{Cursor, Item, NoRoom, NotCounted, Stored};

/// The line that answers a storage command.
pub(super) fn stored_line(result: Result<Stored, NoRoom>) -> Line {
    match result {
        Ok(Stored::Stored) => Line::Stored,
        Ok(Stored::NotStored) => Line::NotStored,
        Ok(Stored::Exists) => Line::Exists,
        Ok(Stored::NotFound) => Line::NotFound,
        Err(NoRoom::TooLarge) => Line::TooLarge,
        Err(NoRoom::OutOfMemory) => Line::OutOfMemory,
    }
}

impl Call<'_> {
    /// Answers the keys of a retrieval behind the first `answered` ones. Says how many are answered if the output has come to its mark before
    /// the last one.
    #[inline]
    pub(super) fn retrieve(&mut self, request: &Request<'_>, answered: u32) -> Option<u32> {
        let (keys, with_cas, touch) = match *request {
            Request::Get { keys, with_cas } => (keys, with_cas, None),
            Request::GetAndTouch { exptime, keys, with_cas } => (keys, with_cas, Some(exptime)),
            _ => unreachable!("only retrievals are answered key by key"),
        };
        for (index, key) in (0..).zip(keys.iter()) {
            if index < answered {
                continue;
            }
            // At the beginning the output was below its mark, so one key at least is answered.
            if index > answered {
                caudal_probe::probe();
                if self.is_at_mark() {
                    return Some(index);
                }
            }
            self.key(key, with_cas, touch);
        }
        self.line(Line::End);
        None
    }

    #[inline]
    fn key(&mut self, key: &[u8], with_cas: bool, touch: Option<i64>) {
        let store = self.service.store();
        let item = match touch {
            None => store.get(key, self.now),
            Some(exptime) => store.get_and_touch(key, exptime, self.now),
        };
        if let Some(item) = item {
            self.item(&item, with_cas);
        }
    }

    /// Carries out any request but a retrieval and `quit`.
    pub(super) fn carry_out(&mut self, request: &Request<'_>) {
        let (store, now) = (self.service.store(), self.now);
        let answer = match *request {
            Request::Store(ref request) => {
                let line = &request.line;
                let stored = store.store(line.mode, line.key, line.flags, line.exptime, request.data, now);
                (!line.noreply).then(|| stored_line(stored))
            }
            Request::Arithmetic { key, direction, delta, noreply } => {
                let result = store.arithmetic(key, direction, delta, now);
                match result {
                    _ if noreply => None,
                    Ok(value) => return self.number(value),
                    Err(NotCounted::NotFound) => Some(Line::NotFound),
                    Err(NotCounted::NonNumeric) => Some(Line::NonNumeric),
                }
            }
            Request::Touch { key, exptime, noreply } => {
                let found = store.touch(key, exptime, now);
                (!noreply).then_some(if found { Line::Touched } else { Line::NotFound })
            }
            Request::Delete { key, noreply } => {
                let found = store.delete(key, now);
                (!noreply).then_some(if found { Line::Deleted } else { Line::NotFound })
            }
            Request::FlushAll { delay, noreply } => {
                self.service.flushes.add();
                store.flush_all(delay, now);
                (!noreply).then_some(Line::Ok)
            }
            Request::Verbosity { noreply, .. } => (!noreply).then_some(Line::Ok),
            Request::Scan(scan) => return self.scan(scan),
            Request::Stats { arguments } => return self.stats(arguments),
            Request::Version => return self.version(crate::service::VERSION),
            Request::Get { .. } | Request::GetAndTouch { .. } | Request::Quit => {
                unreachable!("sessions carry these out by themselves")
            }
        };
        self.line_unless_quiet(answer);
    }

    /// Gives items up to the limit of the request and that of bytes, and a cursor if the client has sent one and there is more.
    fn scan(&mut self, scan: Scan<'_>) {
        self.service.scans.add();
        let service = self.service;
        let store = service.store();
        let from = match scan.start {
            ScanStart::First => Cursor::START,
            ScanStart::Key(key) => store.cursor_of(key, self.now),
            ScanStart::Cursor(cursor) => Cursor(cursor),
        };
        let (start, bytes_max) = (self.output.len(), service.config().scan_bytes_max);
        let scanned = store.scan(from, scan.limit, self.now, |item: &Item| {
            let written = self.output.len() - start;
            let bytes = value_bytes(item.key(), item.flags, None, item.data().len());
            if written > 0 && written + bytes > bytes_max {
                return ControlFlow::Break(());
            }
            self.item(item, false);
            ControlFlow::Continue(())
        });
        if let (ScanStart::Cursor(_), Some(next)) = (scan.start, scanned.next) {
            self.cursor(next.0);
        }
        self.line(Line::End);
    }

    /// Answers a storage command for whose value there is no memory. A `set` deletes the old value, which its client must not find.
    pub(super) fn no_room(&mut self, line: &StoreLine<'_>, reason: NoRoom) {
        if line.mode == StoreMode::Set {
            self.service.store().invalidate(line.key, self.now);
        }
        if !line.noreply {
            self.line(stored_line(Err(reason)));
        }
    }

    /// Answers a storage command whose data block is dropped as it comes; `skip` is the length of the block, with its end.
    pub(super) fn refuse_block(&mut self, answer: Option<Line>, invalidates: Option<&[u8]>, skip: usize) {
        let store = self.service.store();
        if skip > store.config().value_bytes_max + 2 && answer != Some(Line::BadFormat) {
            store.count_too_large();
        }
        if let Some(key) = invalidates {
            store.invalidate(key, self.now);
        }
        self.line_unless_quiet(answer);
    }
}
