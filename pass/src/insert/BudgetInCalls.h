//===- BudgetInCalls.h - Keeping what is left in a register through recursion -------------------------------------===//
//
// Hands what is left of the budget on in a register through recursion. Called by Bounded.cpp, after insertion;
// BudgetInLoops.cpp asks which functions take it.
//
// Functions that call each other in a circle and do little in a round have their probes so close that the path of what is
// left through memory, from one to the next, takes longer than they do (BudgetInLoops.h, for loops). Such functions hand it to each
// other: each gets a `swifterror` parameter, which code generation keeps in one register (r12 on x86-64) into a call and out
// of it. The old function stays, for all who are not part of the circle: it fetches what is left, calls the new one, and puts
// back what that leaves. Who calls it in few places does that itself.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_BUDGETINCALLS_H
#define CAUDAL_PASS_BUDGETINCALLS_H

#include "analysis/Calls.h"
#include "analysis/StandIn.h"
#include "insert/Probe.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/PassManager.h"
#include <vector>

namespace caudal {

/// `functions`: all that call each other in a circle, with what was written into each. Returns, in the same order, the new
/// functions, which have their bodies and whose `spending` is done; nothing, if it would not pay or cannot be.
std::vector<llvm::Function *> carryInCalls(llvm::ArrayRef<llvm::Function *> functions, llvm::MutableArrayRef<Spending> spending,
                                           llvm::FunctionAnalysisManager &analyses, const Calls &calls,
                                           ProbeWriter &writer);

/// Functions that have the bodies of those that stand for them.
using Carried = llvm::DenseMap<const llvm::Function *, llvm::Function *>;

/// The function that has the body of `instruction`'s callee, if the callee only stands for it; else null.
llvm::Function *carriedCallee(const llvm::Instruction &instruction, const Carried &carried);

/// Calls that hand over what is left themselves, in one function.
class Handing {
public:
  explicit Handing(llvm::Function &caller) : caller_(caller) {}
  /// Replaces `call` by one of `inner`, which gets what is in `left` and leaves there what it leaves.
  void replace(llvm::CallBase &call, llvm::Function &inner, llvm::AllocaInst &left);

private:
  llvm::Function &caller_;
  llvm::AllocaInst *purse_ = nullptr;
};

/// Calls of functions that stand for others become calls of these, if they are called in few places: `caller` fetches what
/// is left itself, and puts back what the callee leaves. After all else has been done to `caller`.
void callDirectly(llvm::Function &caller, const Carried &carried, ProbeWriter &writer);

} // namespace caudal

#endif
