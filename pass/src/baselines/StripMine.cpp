// Cuts a counted loop into strips, with one probe before each strip. Called by
// CompilerInterrupts.cpp, when probes are written. See StripMine.h.
#include "baselines/StripMine.h"
#include "Compat.h"
#include "llvm/IR/CFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace caudal {

PreparedStrip prepareStrip(const Strip &strip, ScalarEvolution &scev) {
  PreparedStrip prepared;
  prepared.strip = strip;
  prepared.preheader = strip.loop->getLoopPreheader();
  prepared.header = strip.loop->getHeader();
  prepared.replaced = cast<BranchInst>(strip.facts.latch->getTerminator())->getCondition();
  // Loops need not be in closed form any more, and phis would come after probes that are in place already.
  SCEVExpander expander = expanderOf(scev, "caudal.count", /*closed=*/false);
  Instruction *at = prepared.preheader->getTerminator();
  Type *type = strip.facts.tested->getType();
  prepared.last = expander.expandCodeFor(strip.facts.testedLast, type, at);
  append_range(prepared.computing, expander.getAllInsertedInstructions());
  return prepared;
}

namespace {

class Cutter {
public:
  Cutter(const PreparedStrip &prepared, ProbeWriter &writer)
      : prepared_(prepared), facts_(prepared.strip.facts), writer_(writer), header_(prepared.header),
        latch_(facts_.latch), context_(header_->getContext()) {}

  void cut();

private:
  BasicBlock *insertOuter(BasicBlock *from, BasicBlock *to, const Twine &suffix);
  BasicBlock *block(const Twine &name, BasicBlock *before) {
    return BasicBlock::Create(context_, name, header_->getParent(), before);
  }
  DebugLoc line() const { return latch_->getTerminator()->getDebugLoc(); }
  Value *atStart(Value *value, BasicBlock *block);
  Value *atStart(BasicBlock *block) { return atStart(facts_.tested, block); }
  Value *stepsBetween(IRBuilder<> &builder, Value *from, Value *to);
  Value *after(IRBuilder<> &builder, Value *from, Value *steps);
  PHINode *counter() const;
  Value *unitsOf(IRBuilder<> &builder, Value *iterations);

  const PreparedStrip &prepared_;
  const LoopFacts &facts_;
  ProbeWriter &writer_;
  BasicBlock *header_;
  BasicBlock *latch_;
  LLVMContext &context_;
};

/// Puts a block on the edge from `from` to `to`, whose phis, in the same order, stand for those of `to`.
BasicBlock *Cutter::insertOuter(BasicBlock *from, BasicBlock *to, const Twine &suffix) {
  BasicBlock *outer = block(header_->getName() + suffix, to);
  BranchInst *jump = BranchInst::Create(to, outer);
  jump->setDebugLoc(line());
  from->getTerminator()->replaceSuccessorWith(to, outer);
  for (PHINode &phi : to->phis()) {
    PHINode *carried = PHINode::Create(phi.getType(), 2, phi.getName() + suffix);
    carried->insertBefore(jump->getIterator());
    int entry = phi.getBasicBlockIndex(from);
    carried->addIncoming(phi.getIncomingValue(entry), from);
    phi.setIncomingBlock(entry, outer);
    phi.setIncomingValue(entry, carried);
  }
  return outer;
}

/// The header's values of the next iteration reach `outer` from `from`.
static void carry(BasicBlock *header, BasicBlock *latch, BasicBlock *outer, BasicBlock *from) {
  auto carried = outer->phis().begin();
  for (PHINode &phi : header->phis()) {
    carried->addIncoming(phi.getIncomingValueForBlock(latch), from);
    ++carried;
  }
}

/// The phi of `block` that stands for the header's `phi`: they are in the same order.
static PHINode *counterpart(PHINode *phi, BasicBlock *block) {
  auto found = block->phis().begin();
  for (PHINode &other : phi->getParent()->phis()) {
    if (&other == phi)
      break;
    ++found;
  }
  return &*found;
}

/// The value of `value` in the first iteration of the strip that begins in `block`.
Value *Cutter::atStart(Value *value, BasicBlock *block) {
  if (auto *phi = dyn_cast<PHINode>(value); phi && phi->getParent() == header_)
    return counterpart(phi, block);
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !facts_.testedParts.contains(instruction))
    return value;
  Instruction *copy = instruction->clone();
  copy->dropPoisonGeneratingFlags();
  for (Use &operand : copy->operands())
    operand.set(atStart(operand, block));
  copy->insertBefore(block->getTerminator()->getIterator());
  return copy;
}

/// How many steps it is from one tested value to a later one.
Value *Cutter::stepsBetween(IRBuilder<> &builder, Value *from, Value *to) {
  auto number = [&](Value *value) {
    return value->getType()->isPointerTy() ? builder.CreatePtrToInt(value, builder.getInt64Ty()) : value;
  };
  Value *first = number(from), *last = number(to);
  Value *distance = facts_.step > 0 ? builder.CreateSub(last, first) : builder.CreateSub(first, last);
  return builder.CreateLShr(distance, Log2_64(uint64_t(std::abs(facts_.step))));
}

/// The value that `from` becomes after `steps`.
Value *Cutter::after(IRBuilder<> &builder, Value *from, Value *steps) {
  Value *distance = builder.CreateShl(steps, Log2_64(uint64_t(std::abs(facts_.step))));
  if (facts_.step < 0)
    distance = builder.CreateNeg(distance);
  return from->getType()->isPointerTy() ? builder.CreatePtrAdd(from, distance, "caudal.end")
                                        : builder.CreateAdd(from, distance, "caudal.end");
}

/// The header's phi of which the latch tests the next step; null: it tests something else. That the tested value is what a phi has next
/// is not enough: one that remembers the value before may have begun anywhere.
PHINode *Cutter::counter() const {
  const auto *step = dyn_cast<Instruction>(facts_.tested);
  bool isSum = step && (step->getOpcode() == Instruction::Add || isa<GetElementPtrInst>(step)) && step->getNumOperands() == 2;
  auto *phi = isSum && isa<Constant>(step->getOperand(1)) ? dyn_cast<PHINode>(step->getOperand(0)) : nullptr;
  return phi && phi->getParent() == header_ && phi->getIncomingValueForBlock(latch_) == step ? phi : nullptr;
}

/// The cost of a strip of so many iterations.
Value *Cutter::unitsOf(IRBuilder<> &builder, Value *iterations) {
  iterations = builder.CreateZExtOrTrunc(iterations, builder.getInt64Ty());
  int64_t units = std::max<int64_t>(1, prepared_.strip.expected.inCycles());
  return units == 1 ? iterations : builder.CreateMul(iterations, builder.getInt64(uint64_t(units)));
}

void Cutter::cut() {
  auto *branch = cast<BranchInst>(latch_->getTerminator());
  BasicBlock *exit = branch->getSuccessor(branch->getSuccessor(0) == header_ ? 1 : 0);
  BasicBlock *outer = insertOuter(prepared_.preheader, header_, ".strip");
  BasicBlock *done = block(latch_->getName() + ".done", latch_->getNextNode());

  // strip: as far as it reaches, and a probe that pays for that
  Instruction *jump = outer->getTerminator();
  IRBuilder<> builder(jump);
  builder.SetCurrentDebugLocation(line());
  Value *start = atStart(outer);
  Value *left = stepsBetween(builder, start, prepared_.last);
  Value *steps = builder.CreateBinaryIntrinsic(Intrinsic::umin, left, ConstantInt::get(left->getType(), prepared_.strip.length - 1));
  // Of one iteration more than steps; what is counted by is one step behind what is tested.
  Value *iterations = builder.CreateAdd(steps, ConstantInt::get(steps->getType(), 1), "", /*HasNUW=*/true);
  PHINode *counter = this->counter();
  Value *end = counter ? after(builder, counterpart(counter, outer), iterations) : after(builder, start, steps);
  writer_.probe(jump, writer_.charges() ? unitsOf(builder, iterations) : builder.getInt64(0));

  // latch: until the strip's end. The old comparison stays until all probes are in: one may go before it.
  builder.SetInsertPoint(branch);
  branch->setCondition(builder.CreateICmpEQ(facts_.tested, end, "caudal.ended"));
  branch->setSuccessor(0, done);
  branch->setSuccessor(1, header_);
  branch->setMetadata(LLVMContext::MD_prof, nullptr);
  // done: was it the loop's end?
  builder.SetInsertPoint(done);
  builder.SetCurrentDebugLocation(line());
  builder.CreateCondBr(builder.CreateICmpEQ(end, prepared_.last), exit, outer);
  for (PHINode &phi : exit->phis())
    phi.setIncomingBlock(phi.getBasicBlockIndex(latch_), done);
  carry(header_, latch_, outer, done);
}

} // namespace

void cutStrip(const PreparedStrip &prepared, ProbeWriter &writer) { Cutter(prepared, writer).cut(); }

} // namespace caudal
