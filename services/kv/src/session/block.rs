//! The data block of a storage command that comes in several reads: its bytes go straight to where the value stays.
//! A session makes a [`Block`] when it has the command's line without all of its block, and fills it until it is whole.

use caudal_proto::text::{Line, StoreLine, StoreMode, block_ends};

use super::Call;
use crate::store::Draft;

/// Bytes behind a data block.
const END_BYTES: usize = 2;

/// A data block on its way.
#[derive(Debug)]
pub(super) struct Block {
    /// The value so far; none when it has been stored.
    draft: Option<Draft>,
    mode: StoreMode,
    flags: u32,
    exptime: i64,
    noreply: bool,
    /// The bytes behind the block that have come.
    end: [u8; END_BYTES],
    end_come: usize,
}

/// The fate of bytes that a block was given.
pub(super) enum Filled {
    /// It took so many, all that there were, and wants more.
    Partly(usize),
    /// It took so many and is whole.
    Wholly(usize),
}

/// A block for which there is no memory.
pub(super) struct Refused {
    /// Its bytes, and those behind it, which have to be dropped as they come.
    pub(super) skip: usize,
}

impl Block {
    /// Takes memory for the value of a storage command.
    ///
    /// # Errors
    /// [`Refused`], and the answer is in the output.
    pub(super) fn begin(call: &mut Call<'_>, line: &StoreLine<'_>) -> Result<Block, Refused> {
        match call.service.store().draft(line.key, line.data_bytes, call.now) {
            Ok(draft) => Ok(Block {
                draft: Some(draft),
                mode: line.mode,
                flags: line.flags,
                exptime: line.exptime,
                noreply: line.noreply,
                end: [0; END_BYTES],
                end_come: 0,
            }),
            Err(no_room) => {
                call.no_room(line, no_room);
                Err(Refused { skip: line.data_bytes + END_BYTES })
            }
        }
    }

    /// Whether its client wants an answer.
    pub(super) fn wants_answer(&self) -> bool {
        !self.noreply
    }

    /// Takes the bytes that `input` begins with. A block that is whole is stored and answered.
    pub(super) fn fill(&mut self, call: &mut Call<'_>, input: &[u8]) -> Filled {
        let Some(draft) = &mut self.draft else { return Filled::Wholly(0) };
        let of_block = draft.fill(input);
        let behind = &input[of_block..];
        let of_end = behind.len().min(END_BYTES - self.end_come);
        self.end[self.end_come..self.end_come + of_end].copy_from_slice(&behind[..of_end]);
        self.end_come += of_end;
        if self.end_come < END_BYTES {
            return Filled::Partly(of_block + of_end);
        }
        let draft = self.draft.take().expect("it was there above");
        let answer = if block_ends(self.end) {
            let stored = call.service.store().publish(self.mode, draft, self.flags, self.exptime, call.now);
            super::commands::stored_line(stored)
        } else {
            Line::BadChunk
        };
        if !self.noreply {
            call.line(answer);
        }
        Filled::Wholly(of_block + of_end)
    }
}
