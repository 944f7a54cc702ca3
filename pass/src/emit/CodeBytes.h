//===- CodeBytes.h - How many bytes finished machine code takes, and where it ends --------------------------------===//
//
// Estimates how many bytes finished machine code takes. Called by Alignment.cpp and Gaps.cpp.
//
// An estimate: only the assembler knows. It also chooses how long jumps are, so what is wrong here costs bytes or time, no more.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_CODEBYTES_H
#define CAUDAL_PASS_CODEBYTES_H

#include "llvm/CodeGen/MachineBasicBlock.h"

namespace caudal {

/// The text of inline assembly; empty: `instruction` is none.
llvm::StringRef assemblyOf(const llvm::MachineInstr &instruction);

/// A probe counts with its call, wherever that comes to lie; what does not become code is 0.
int64_t bytesOf(const llvm::MachineInstr &instruction);
int64_t bytesOf(const llvm::MachineBasicBlock &block);

/// Whether `instruction` jumps to where it has computed, and within its function.
bool isIndirectJump(const llvm::MachineInstr &instruction);

/// Whether code runs on from `block` to the one that lies after it.
bool runsOn(const llvm::MachineBasicBlock &block);

} // namespace caudal

#endif
