//===- Probe.h - The instructions of one probe --------------------------------------------------------------------===//
//
// Not due, a probe is a comparison and a jump that is not taken; due, it calls the cold entry of its mode, which keeps
// all registers but one (caudal/probe.h, "The cold entries of instrumented code").
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PROBE_H
#define CAUDAL_PASS_PROBE_H

#include "Options.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace caudal {

class ProbeWriter {
public:
  ProbeWriter(llvm::Module &module, const Options &options);

  /// Writes a probe in front of `before`, whose block ends there; returns the block that `before` is now in.
  /// `spent`: an i64, the cost units since the last probe, at least 0; only budget mode looks at it.
  llvm::BasicBlock *probe(llvm::Instruction *before, llvm::Value *spent);
  llvm::BasicBlock *probe(llvm::Instruction *before, int64_t spent) {
    return probe(before, llvm::ConstantInt::get(i64_, uint64_t(spent)));
  }
  /// Subtracts from the budget without looking at it: a cost that the next probe finds. Nothing in the other modes.
  void charge(llvm::Instruction *before, llvm::Value *spent);
  /// Keeps `block` from being folded into what jumps to it, without an instruction.
  void keep(llvm::BasicBlock &block);
  bool charges() const { return mode_ == Mode::Budget; }

private:
  llvm::Value *field(llvm::IRBuilder<> &builder, llvm::GlobalVariable *line, unsigned offset);
  llvm::Value *isDue(llvm::IRBuilder<> &builder, llvm::Value *spent);
  llvm::Value *spend(llvm::IRBuilder<> &builder, llvm::Value *spent);

  llvm::Module &module_;
  Mode mode_;
  llvm::IntegerType *i64_;
  llvm::GlobalVariable *line_;
  llvm::InlineAsm *cold_;
};

/// Whether `call` enters the cold path: what makes a jump a probe.
bool isColdCall(const llvm::CallBase &call);

} // namespace caudal

#endif
