// Finds the calls that must stay jumps because they may lead around a circle without end. Made by Bounded.cpp for each circle
// of calls, and asked by TailCalls.cpp. See JumpCircles.h.
#include "analysis/JumpCircles.h"
#include "analysis/Allocators.h"
#include "analysis/Jumps.h"

using namespace llvm;

namespace caudal {

/// Whether `call` may go on to who knows where: through a pointer, to a function of another module or one that the linker may take from
/// there, to one that is left alone, of whose calls nobody knows which are jumps, or to one outside of the circle that ends in a jump.
bool JumpCircles::mayGoAnywhere(const CallInst &call) const {
  const Function *callee = call.getCalledFunction();
  // Allocators call nobody back.
  if (callee && isAllocatorEntry(callee->getName()))
    return false;
  Callee kind = Calls::kind(call);
  if (kind != Callee::Known || isWithin(call))
    return kind == Callee::Contract;
  return !calls_.find(*callee) || any_of(*callee, [](const BasicBlock &block) { return jumpOf(block); });
}

JumpCircles::JumpCircles(ArrayRef<Function *> functions, const Calls &calls)
    : calls_(calls), functions_(functions.begin(), functions.end()) {
  DenseMap<const Function *, Set> jumps;
  for (Function *function : functions) {
    SmallVector<const CallInst *, 8> last;
    if (hasJumps(*function))
      for (const CallInst *call : lastCalls(*function))
        last.push_back(call);
    bool plainly = !last.empty() && endsPlainly(*function);
    erase_if(last, [&](const CallInst *call) { return !canJump(*call, *function, plainly); });
    // Those that were written so.
    for (const BasicBlock &block : *function)
      if (const CallInst *call = jumpOf(block))
        last.push_back(call);
    for (const CallInst *call : last) {
      if (isWithin(*call))
        jumps[function].insert(call->getCalledFunction());
      if (mayGoAnywhere(*call))
        jumps[function].insert(nullptr);
    }
  }
  for (const auto &[function, next] : jumps) {
    Set &reached = reached_[function];
    SmallVector<const Function *, 8> left(next.begin(), next.end());
    while (!left.empty()) {
      const Function *at = left.pop_back_val();
      if (auto further = jumps.find(at); reached.insert(at).second && further != jumps.end())
        left.append(further->second.begin(), further->second.end());
    }
  }
}

bool JumpCircles::comesBack(const CallInst &call) const {
  if (mayGoAnywhere(call))
    return true;
  if (!isWithin(call))
    return false;
  const Function *callee = call.getCalledFunction(), *function = call.getFunction();
  auto from = reached_.find(callee);
  return callee == function ||
         (from != reached_.end() && (from->second.contains(function) || from->second.contains(nullptr)));
}

} // namespace caudal
