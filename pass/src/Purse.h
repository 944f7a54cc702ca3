//===- Purse.h - What is left, as a variable ----------------------------------------------------------------------===//
//
// In a part of a function (a loop, or all of it) the probes spend from a variable instead of from the thread's memory. Calls
// in that part which may spend as well find what is left in its place, and leave it there.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PURSE_H
#define CAUDAL_PASS_PURSE_H

#include "Calls.h"
#include "Probe.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace caudal {

/// Whether `instruction` is a call after which less may be left, or another thread's budget counts.
bool maySpend(const llvm::Instruction &instruction, const Calls &calls);

class Purse {
public:
  /// `loop`: the part; null: all of `function`. What is in it is taken out of `spending`.
  Purse(llvm::Function &function, const llvm::Loop *loop, ProbeWriter &writer, Spending &spending);

  llvm::AllocaInst *variable() const { return left_; }
  void aroundCall(llvm::CallBase &call, llvm::DominatorTree *dominators, llvm::LoopInfo *loops) const;

private:
  bool contains(const llvm::BasicBlock *block) const { return !loop_ || loop_->contains(block); }

  const llvm::Loop *loop_;
  ProbeWriter &writer_;
  llvm::AllocaInst *left_;
};

} // namespace caudal

#endif
