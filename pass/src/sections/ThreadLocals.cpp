// Makes the initialisers of C++ thread_local variables critical sections. Called by Sections.cpp and KeepNames.cpp. See
// ThreadLocals.h.
#include "sections/ThreadLocals.h"
#include "analysis/Allocators.h"
#include "analysis/Resolvers.h"
#include "sections/Surround.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace caudal {

/// The attribute of guards whose initialisers have their sections: variables keep it where their functions are inlined.
static constexpr StringLiteral seenAttribute = "caudal-sections";

/// By the names of the Itanium ABI, and by that of clang's guard of all that a file has outside of functions.
static bool isGuard(const GlobalVariable &variable) {
  StringRef name = variable.getName();
  return variable.isThreadLocal() && (name.starts_with("_ZGV") || name.starts_with("__tls_guard"));
}

/// Is the guard that of a variable in a function? It is set after the initialiser.
static bool isOfFunction(const GlobalVariable &guard) { return guard.getName().starts_with("_ZGVZ"); }

namespace {

/// The code that makes a variable.
struct Initialiser {
  BasicBlock *looks = nullptr; ///< ends with the branch to `begin` or `made`
  BasicBlock *begin = nullptr;
  BasicBlock *made = nullptr; ///< where the program comes to if there is the variable
  SmallSetVector<BasicBlock *, 16> blocks;
  SmallVector<StoreInst *, 2> ends; ///< where the guard is set, if the initialiser ends there
};

} // namespace

/// Where the program comes to if `value` is the constant `is`: initialisers, each with the block that looks.
static void findInitialisers(Value &value, Constant &is, unsigned steps, SmallVectorImpl<Initialiser> &found) {
  for (User *user : value.users()) {
    auto *instruction = dyn_cast<Instruction>(user);
    if (!instruction)
      continue;
    if (auto *branch = dyn_cast<BranchInst>(instruction)) {
      if (branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)) {
        Initialiser initialiser;
        initialiser.looks = branch->getParent();
        initialiser.begin = branch->getSuccessor(is.isOneValue() ? 0 : 1);
        initialiser.made = branch->getSuccessor(is.isOneValue() ? 1 : 0);
        found.push_back(std::move(initialiser));
      }
      continue;
    }
    if (steps == 0)
      continue;
    // Within a loop it is looked up before the loop, and known after the first iteration.
    if (auto *either = dyn_cast<PHINode>(instruction)) {
      if (all_of(either->incoming_values(), [&](const Value *each) { return each == &value || isa<Constant>(each); }))
        findInitialisers(*either, is, steps - 1, found);
      continue;
    }
    // What is computed of the guard and constants alone.
    SmallVector<Constant *, 2> operands;
    for (Value *operand : instruction->operands())
      operands.push_back(operand == &value ? &is : dyn_cast<Constant>(operand));
    if (is_contained(operands, nullptr) || !(isa<ICmpInst>(user) || isa<CastInst>(user) || isa<BinaryOperator>(user)))
      continue;
    const DataLayout &layout = instruction->getModule()->getDataLayout();
    Constant *result = isa<ICmpInst>(user)
                           ? ConstantFoldCompareInstOperands(cast<ICmpInst>(user)->getPredicate(), operands[0], operands[1], layout)
                           : ConstantFoldInstOperands(instruction, operands, layout);
    if (result && isa<ConstantInt>(result))
      findInitialisers(*instruction, *result, steps - 1, found);
  }
}

/// Finds what belongs to `initialiser`; false: it is not as clang writes it.
static bool findBlocks(Initialiser &initialiser, const SmallPtrSetImpl<const StoreInst *> &ends) {
  Function &function = *initialiser.begin->getParent();
  if (initialiser.begin->getSinglePredecessor() != initialiser.looks) {
    if (initialiser.begin->isEHPad())
      return false;
    initialiser.begin = SplitEdge(initialiser.looks, initialiser.begin);
  }
  DominatorTree dominators(function);
  SmallPtrSet<BasicBlock *, 4> ending;
  initialiser.blocks.insert(initialiser.begin);
  for (unsigned at = 0; at < initialiser.blocks.size(); at++) {
    BasicBlock *block = initialiser.blocks[at];
    auto end = find_if(*block, [&](const Instruction &instruction) {
      const auto *store = dyn_cast<StoreInst>(&instruction);
      return store && ends.contains(store);
    });
    if (end != block->end()) {
      initialiser.ends.push_back(cast<StoreInst>(&*end));
      ending.insert(block);
      continue;
    }
    for (BasicBlock *next : successors(block))
      if (dominators.dominates(initialiser.begin, next))
        initialiser.blocks.insert(next);
  }
  return all_of(initialiser.blocks, [&](BasicBlock *block) {
    bool isEntered = block != initialiser.begin && any_of(predecessors(block), [&](BasicBlock *before) {
      return !initialiser.blocks.contains(before) || ending.contains(before);
    });
    const Instruction *last = block->getTerminator();
    return !isEntered && !block->getTerminatingMustTailCall() && !isa<IndirectBrInst>(last) && !isa<CallBrInst>(last);
  });
}

/// Where the section ends on the path from `block` to `next`.
static Instruction *between(BasicBlock *block, BasicBlock *next) {
  if (auto *invoke = dyn_cast<InvokeInst>(block->getTerminator()); invoke && invoke->getUnwindDest() == next)
    return behindUnwinding(*invoke);
  if (block->getSingleSuccessor())
    return block->getTerminator();
  CriticalEdgeSplittingOptions options;
  options.setMergeIdenticalEdges();
  unsigned number = GetSuccessorNumber(block, next);
  BasicBlock *edge = SplitCriticalEdge(block->getTerminator(), number, options);
  return edge ? edge->getTerminator() : nullptr;
}

/// Calls that may unwind and have no landing pad get one, which ends the section.
static void endWhereUnwound(ArrayRef<CallInst *> calls, FunctionCallee exit) {
  if (calls.empty())
    return;
  Function &function = *calls.front()->getFunction();
  // As the other functions of the file, for those that differ are not inlined.
  if (Function *personality = function.getParent()->getFunction("__gxx_personality_v0"); personality && !function.hasPersonalityFn())
    function.setPersonalityFn(personality);
  BasicBlock *pad = nullptr;
  for (CallInst *call : calls) {
    if (pad) {
      changeToInvokeAndSplitBasicBlock(call, pad);
      continue;
    }
    InvokeInst *invoke = catchUnwinding(*call);
    pad = invoke->getUnwindDest();
    callBefore(pad->getTerminator(), *invoke, exit, {});
  }
}

/// In the section, looks at the guard again: it may have been loaded long before, and another request have made the variable since.
static void lookAgain(const Initialiser &initialiser, LoadInst &load, Instruction &enter, FunctionCallee exit) {
  BasicBlock *begin = initialiser.begin;
  BasicBlock *rest = SplitBlock(begin, enter.getNextNode());
  BasicBlock *leaves = BasicBlock::Create(begin->getContext(), "caudal.made", begin->getParent(), rest);
  for (PHINode &phi : initialiser.made->phis())
    phi.addIncoming(phi.getIncomingValueForBlock(initialiser.looks), leaves);
  IRBuilder<> builder(leaves);
  giveLine(builder, enter);
  Instruction *last = builder.CreateBr(initialiser.made);
  callBefore(last, enter, exit, {});
  Instruction *old = begin->getTerminator();
  builder.SetInsertPoint(old);
  giveLine(builder, enter);
  Value *guard = builder.CreateAlignedLoad(load.getType(), load.getPointerOperand(), load.getAlign(), /*isVolatile=*/true);
  builder.CreateCondBr(builder.CreateIsNull(guard), rest, leaves);
  old->eraseFromParent();
}

static void surround(Initialiser &initialiser, LoadInst &load, FunctionCallee enter, FunctionCallee exit) {
  SmallVector<CallInst *, 16> unwinding;
  SmallVector<std::pair<BasicBlock *, BasicBlock *>, 8> leaving;
  SmallVector<Instruction *, 2> returning;
  SmallPtrSet<const Instruction *, 4> ends(initialiser.ends.begin(), initialiser.ends.end());
  bool mayUnwind = !initialiser.begin->getParent()->doesNotThrow();
  for (BasicBlock *block : initialiser.blocks) {
    bool hasEnded = false;
    for (Instruction &instruction : *block) {
      if (hasEnded |= ends.contains(&instruction); hasEnded)
        break;
      auto *call = dyn_cast<CallInst>(&instruction);
      if (mayUnwind && call && !call->doesNotThrow() && !isa<IntrinsicInst>(call))
        unwinding.push_back(call);
    }
    if (hasEnded)
      continue;
    if (isa<ReturnInst>(block->getTerminator()) || isa<ResumeInst>(block->getTerminator()))
      returning.push_back(block->getTerminator());
    SmallSetVector<BasicBlock *, 4> next(succ_begin(block), succ_end(block));
    for (BasicBlock *successor : next)
      if (!initialiser.blocks.contains(successor))
        leaving.push_back({block, successor});
  }
  for (StoreInst *store : initialiser.ends)
    callBefore(store->getNextNode(), *store, exit, {});
  for (Instruction *instruction : returning)
    callBefore(instruction, *instruction, exit, {});
  for (auto [block, next] : leaving)
    if (Instruction *place = between(block, next))
      callBefore(place, *block->getTerminator(), exit, {});
  Instruction *first = &*initialiser.begin->getFirstInsertionPt();
  CallInst *entered = callBefore(first, *first, enter, {});
  endWhereUnwound(unwinding, exit);
  lookAgain(initialiser, load, *entered, exit);
}

/// The loads from `variable` and the stores to it.
static void findAccesses(GlobalVariable &variable, SmallVectorImpl<LoadInst *> &loads, SmallPtrSetImpl<const StoreInst *> &sets) {
  SmallVector<Value *, 4> addresses = {&variable};
  for (unsigned at = 0; at < addresses.size(); at++)
    for (User *user : addresses[at]->users()) {
      auto *intrinsic = dyn_cast<IntrinsicInst>(user);
      auto *store = dyn_cast<StoreInst>(user);
      if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::threadlocal_address)
        addresses.push_back(intrinsic);
      else if (auto *load = dyn_cast<LoadInst>(user); load && load->getType()->isIntegerTy())
        loads.push_back(load);
      else if (store && store->getPointerOperand() == addresses[at])
        if (const auto *value = dyn_cast<ConstantInt>(store->getValueOperand()); value && !value->isZero())
          sets.insert(store);
    }
}

static unsigned surroundInitialisers(Module &module, function_ref<bool(const Function &)> isLeftAlone) {
  static constexpr unsigned stepsToBranch = 4;
  unsigned count = 0;
  for (GlobalVariable &guard : module.globals()) {
    if (!isGuard(guard) || guard.hasAttribute(seenAttribute))
      continue;
    guard.addAttribute(seenAttribute);
    SmallVector<LoadInst *, 4> loads;
    SmallPtrSet<const StoreInst *, 4> sets;
    findAccesses(guard, loads, sets);
    if (!isOfFunction(guard))
      sets.clear();
    for (LoadInst *load : loads) {
      if (isLeftAlone(*load->getFunction()))
        continue;
      SmallVector<Initialiser, 2> initialisers;
      findInitialisers(*load, *Constant::getNullValue(load->getType()), stepsToBranch, initialisers);
      for (Initialiser &initialiser : initialisers) {
        if (!findBlocks(initialiser, sets))
          continue;
        auto *type = FunctionType::get(Type::getVoidTy(module.getContext()), /*isVarArg=*/false);
        auto library = [&](StringRef name) {
          FunctionCallee callee = module.getOrInsertFunction(name, type);
          if (auto *function = dyn_cast<Function>(callee.getCallee()))
            function->setDoesNotThrow();
          return callee;
        };
        surround(initialiser, *load, library("caudal_section_enter_v1"), library("caudal_section_exit_v1"));
        count++;
      }
    }
  }
  return count;
}

unsigned surroundThreadLocals(Module &module) {
  bool hasAny = any_of(module.globals(), [](const GlobalVariable &variable) { return variable.isThreadLocal(); });
  if (!hasAny)
    return 0;
  DenseSet<const Function *> allocators = findAllocators(module), resolvers = findResolvers(module);
  return surroundInitialisers(module, [&](const Function &function) {
    return function.hasAvailableExternallyLinkage() || allocators.contains(&function) || resolvers.contains(&function);
  });
}

} // namespace caudal
