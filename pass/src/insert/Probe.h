//===- Probe.h - The instructions of one probe --------------------------------------------------------------------===//
//
// Writes the instructions of one probe. Pass.cpp makes one writer for a module; the strategies write the probes of their plans with it,
// and the files that keep the budget in a register replace probes by it.
//
// Not due, a probe is a subtraction or comparison, a jump that is not taken, and an instruction that does nothing; due, it
// calls the cold entry of its mode, which keeps all registers but one (caudal/probe.h, "The cold entries of instrumented
// code"). It is one piece of inline assembly in the place where it stands:
//
//          subq   $9, %fs:caudal_probe_v1@tpoff+8        64 48 83 2c 25 ..       9
//          jl     1f                                     7c 03
//          nopl   ...(%rax,%rbp,8)                       0f 1f 84 | e8 .. .. .. ..
//      1:  call   caudal_probe_cold_budget_v1                     | e8 .. .. .. ..
//
// The call lies within the instruction that does nothing, as its last five bytes: a probe that is not due runs past it, a probe that is
// due jumps into it and comes back after it. So a probe needs no block of its own at the function's end, with a jump back from there: it is
// a third shorter than with such a block, leaves the program's blocks as they are, and code generation sees no branch. Where finished code
// has a gap close by, the call is moved there (Gaps.h), because the instruction that does nothing is executed each time, too.
//
// A probe that is seldom executed (Seldom.h) is a call of a probe in the library, of 5 bytes.
//
// In clock mode a probe spends a credit first, and the library reads the clock when the credit is gone: in many a loop, a reading takes as
// long as the code between two probes, and the processor's predictions are lost at each.
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

/// A function's probes that spend from the thread's memory.
using Spending = std::vector<llvm::CallInst *>;

/// Writes the probes of a module in the mode that the options name.
class ProbeWriter {
public:
  ProbeWriter(llvm::Module &module, const Options &options);

  /// Writes a probe before `before`. `spent`: an i64, the cost units since the last probe, at least 0; flag mode
  /// ignores it.
  void probe(llvm::Instruction *before, llvm::Value *spent);
  /// The same with a constant. `isSeldom`: the probe is to be short, at the cost of a few cycles.
  void probe(llvm::Instruction *before, int64_t spent, bool isSeldom);
  /// Whether probes of this mode spend from a budget or a credit.
  bool charges() const { return mode_ != Mode::Flag; }
  /// Whether the library has probes of this mode that can be called.
  bool hasCalled() const { return mode_ == Mode::Budget || mode_ == Mode::Flag; }

  /// The probes that have been written since the last call of this and that charge.
  Spending takeSpending() { return std::exchange(spending_, {}); }
  /// For BudgetVariable.h: the type of the budget, and its moves between memory and a variable.
  llvm::IntegerType *budgetType() const;
  /// `slack`: that of the loops around `before`, in units (DeferredChecks.h), which the budget in memory never includes.
  void take(llvm::Value *left, llvm::Instruction *before, int64_t slack = 0) const;
  void putBack(llvm::Value *left, llvm::Instruction *before, int64_t slack = 0) const;
  /// Replaces a probe by one that spends from the variable `left`; the cold path reads and writes it, too. `acrossCalls`: the variable
  /// is needed after calls that change r11, and so is better in some other register at the probe, too.
  void spendVariable(llvm::AllocaInst *left, llvm::CallInst *probe, bool acrossCalls);

private:
  llvm::Value *field(llvm::IRBuilder<> &builder, unsigned offset) const;
  llvm::Value *budgetPlace(llvm::IRBuilder<> &builder) const;
  llvm::InlineAsm *assembly(llvm::StringRef looks, llvm::StringRef due, unsigned entryOperand, llvm::FunctionType *type,
                            llvm::StringRef constraints) const;
  llvm::CallInst *finish(llvm::CallInst *probe);
  llvm::CallInst *called(llvm::IRBuilder<> &builder, llvm::StringRef name, llvm::Value *left);
  llvm::Function *ofLibrary(llvm::StringRef name);
  llvm::Function *entry(bool isInRegister);
  llvm::InlineAsm *registerAssembly(llvm::FunctionType *type, llvm::StringRef spent, bool inAnyRegister) const;
  llvm::Function *declared(llvm::StringRef cold);

  llvm::Module &module_;
  Mode mode_;
  llvm::IntegerType *i64_;
  bool localExec_;
  llvm::GlobalVariable *line_;
  Spending spending_;
};

} // namespace caudal

#endif
