// Orders functions that call each other in circles, so that as few as possible are called before they are planned. Called by
// Pass.cpp. See CallsWithin.h.
#include "analysis/CallsWithin.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace caudal {

CallsWithin::CallsWithin(ArrayRef<Function *> functions) : functions_(functions.begin(), functions.end()) {
  SmallPtrSet<Function *, 16> within(functions.begin(), functions.end());
  for (Function *caller : functions_) {
    callees_[caller];
    callers_[caller];
  }
  for (Function *caller : functions_)
    for (Instruction &instruction : instructions(*caller)) {
      auto *call = dyn_cast<CallBase>(&instruction);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && within.contains(callee)) {
        callees_[caller].insert(callee);
        callers_[callee].insert(caller);
      }
    }
}

CallsWithin::Set CallsWithin::breakCircles() const {
  Set early;
  SmallPtrSet<Function *, 16> left(functions_.begin(), functions_.end());
  auto degree = [&](const Edges &edges, Function *function) {
    return count_if(edges.find(function)->second, [&](Function *other) { return left.contains(other); });
  };
  while (!left.empty()) {
    // What nothing calls, or what calls nothing, is on no circle.
    bool peeled = false;
    Function *busiest = nullptr;
    int64_t most = 0;
    for (Function *function : functions_) {
      if (!left.contains(function))
        continue;
      int64_t through = int64_t(degree(callers_, function)) * int64_t(degree(callees_, function));
      if (through == 0) {
        left.erase(function);
        peeled = true;
      } else if (through > most) {
        most = through;
        busiest = function;
      }
    }
    if (!peeled && busiest) {
      early.insert(busiest);
      left.erase(busiest);
    }
  }
  return early;
}

std::vector<Function *> CallsWithin::bottomUp(const Set &early) const {
  std::vector<Function *> order;
  SmallPtrSet<Function *, 16> seen;
  struct Frame {
    Function *function;
    size_t next;
  };
  for (Function *root : functions_) {
    SmallVector<Frame, 16> stack;
    auto enter = [&](Function *function) {
      if (seen.insert(function).second)
        stack.push_back({function, 0});
    };
    enter(root);
    while (!stack.empty()) {
      Frame &top = stack.back();
      const auto &callees = callees_.find(top.function)->second;
      if (top.next == callees.size()) {
        order.push_back(top.function);
        stack.pop_back();
      } else if (Function *callee = callees[top.next++]; !early.contains(callee)) {
        enter(callee);
      }
    }
  }
  return order;
}

} // namespace caudal
