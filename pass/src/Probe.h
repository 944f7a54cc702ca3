//===- Probe.h - The instructions of one probe --------------------------------------------------------------------===//
//
// Not due, a probe is a comparison and a jump that is not taken; due, it calls the cold entry of its mode, which keeps
// all registers but one (caudal/probe.h, "The cold entries of instrumented code"). In clock mode it spends a credit first,
// a bound's worth, and reads the clock when that is gone: a reading takes as long as the code between two probes does in
// many a loop.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_PROBE_H
#define CAUDAL_PASS_PROBE_H

#include "Options.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <utility>
#include <vector>

namespace caudal {

/// The instructions that a function's probes and charges are, as far as they concern what is left.
struct Spending {
  std::vector<llvm::LoadInst *> loads;
  std::vector<llvm::StoreInst *> stores;
  std::vector<llvm::CallInst *> colds; ///< calls of the cold path
};

class ProbeWriter {
public:
  ProbeWriter(llvm::Module &module, const Options &options);

  /// Writes a probe in front of `before`, whose block ends there; returns the block that `before` is now in.
  /// `spent`: an i64, the cost units since the last probe, at least 0; flag mode does not look at it.
  llvm::BasicBlock *probe(llvm::Instruction *before, llvm::Value *spent);
  llvm::BasicBlock *probe(llvm::Instruction *before, int64_t spent) {
    return probe(before, llvm::ConstantInt::get(i64_, uint64_t(spent)));
  }
  /// Keeps `block` from being folded into what jumps to it, without an instruction.
  void keep(llvm::BasicBlock &block);
  bool charges() const { return mode_ != Mode::Flag; }

  /// What has been written since the last time.
  Spending takeSpending() { return std::exchange(spending_, {}); }
  /// For Purse.h: the type of what is left, and its ways between memory and a variable.
  llvm::IntegerType *purseType() const;
  void take(llvm::Value *left, llvm::Instruction *before) const;
  void putBack(llvm::Value *left, llvm::Instruction *before) const;
  /// The cold path finds what is left in the variable, and leaves it there.
  void carryThrough(llvm::AllocaInst *left, llvm::CallInst *cold) const;

private:
  llvm::Value *field(llvm::IRBuilder<> &builder, unsigned offset) const;
  llvm::Value *purse(llvm::IRBuilder<> &builder) const;
  llvm::Value *isDue(llvm::IRBuilder<> &builder, llvm::Value *spent);
  llvm::Value *spend(llvm::IRBuilder<> &builder, llvm::Value *spent);

  llvm::Value *isLate(llvm::IRBuilder<> &builder);

  llvm::Module &module_;
  Mode mode_;
  unsigned bound_;
  llvm::IntegerType *i64_;
  llvm::GlobalVariable *line_;
  llvm::InlineAsm *cold_;
  llvm::InlineAsm *coldCarried_; ///< budget mode's for what is left in a register
  Spending spending_;
};

/// Whether `call` enters the cold path: what makes a jump a probe.
bool isColdCall(const llvm::CallBase &call);
/// Where a probe that ends `block` goes when it is due: the block that calls the cold path, or looks at the clock before;
/// null: `block` does not end in a probe.
llvm::BasicBlock *coldSuccessor(llvm::BasicBlock &block);

} // namespace caudal

#endif
