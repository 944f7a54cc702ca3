#include "Gaps.h"
#if __has_include("llvm/Target/RegisterTargetPassConfigCallback.h")
#include "Probe.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/MC/MCDwarf.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include <map>

using namespace llvm;

namespace caudal {

namespace {

/// Where the unwinder finds a frame: what the directives up to a place say.
struct Frame {
  unsigned base = 7; ///< DWARF's number of %rsp
  int64_t offset = 8;
  std::map<unsigned, int64_t> saved; ///< register, where it is
  unsigned others = 0;               ///< directives that are not followed

  bool operator==(const Frame &other) const { return base == other.base && offset == other.offset && savesAs(other); }
  bool savesAs(const Frame &other) const { return saved == other.saved && others == other.others; }
  void follow(const MCCFIInstruction &directive, SmallVectorImpl<Frame> &remembered);
};

void Frame::follow(const MCCFIInstruction &directive, SmallVectorImpl<Frame> &remembered) {
  switch (directive.getOperation()) {
  case MCCFIInstruction::OpDefCfa:
    base = directive.getRegister();
    offset = directive.getOffset();
    return;
  case MCCFIInstruction::OpDefCfaOffset:
    offset = directive.getOffset();
    return;
  case MCCFIInstruction::OpAdjustCfaOffset:
    offset += directive.getOffset();
    return;
  case MCCFIInstruction::OpDefCfaRegister:
    base = directive.getRegister();
    return;
  case MCCFIInstruction::OpOffset:
    saved[directive.getRegister()] = directive.getOffset();
    return;
  case MCCFIInstruction::OpRestore:
    saved.erase(directive.getRegister());
    return;
  case MCCFIInstruction::OpRememberState:
    remembered.push_back(*this);
    return;
  case MCCFIInstruction::OpRestoreState:
    if (!remembered.empty())
      *this = remembered.pop_back_val();
    return;
  case MCCFIInstruction::OpGnuArgsSize:
    return;
  default:
    ++others;
    base = ~others; // it may be about that
  }
}

/// A probe whose call is in its place.
struct Found {
  MachineInstr *probe;
  const MachineOperand *entry; ///< what it calls when it is due
  int64_t at;                  ///< its end: estimated, in bytes from the function's start
  Frame frame;
};

/// A place between two blocks that code does not run through.
struct Gap {
  MachineBasicBlock *behind; ///< the block in front of it
  int64_t at;
  Frame frame;
  SmallVector<const Found *, 4> probes; ///< whose calls it gets
};

/// A call and the jump back.
constexpr int64_t callBytes = 7;

class Gaps : public MachineFunctionPass {
public:
  static char ID;
  Gaps() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Caudal's calls of due probes"; }
  bool runOnMachineFunction(MachineFunction &function) override;

private:
  void look(MachineFunction &function);
  Gap *chosen(const Found &found);
  void fill(const Gap &gap);
  void move(const Found &found, MachineBasicBlock &into);

  std::vector<Found> probes_;
  std::vector<Gap> gaps_;
  MachineFunction *function_ = nullptr;
  const TargetInstrInfo *instructions_ = nullptr;
  unsigned moved_ = 0; ///< in this function
};

char Gaps::ID = 0;

static StringRef assemblyOf(const MachineInstr &instruction) {
  return instruction.isInlineAsm() ? StringRef(instruction.getOperand(InlineAsm::MIOp_AsmString).getSymbolName()) : "";
}

/// What a displacement or an immediate value takes.
static int64_t bytesOf(const MachineOperand &operand) {
  if (!operand.isImm())
    return operand.isReg() ? 0 : 4;
  return operand.getImm() == 0 ? 0 : isInt<8>(operand.getImm()) ? 1 : 4;
}

/// An estimate: only the assembler knows. It also chooses how long jumps are, so what is wrong here costs bytes, no more.
static int64_t bytesOf(const MachineInstr &instruction) {
  static constexpr int64_t opcode = 3, call = 5, jump = 4, probe = 16, otherAssembly = 8;
  if (instruction.isMetaInstruction())
    return 0;
  if (instruction.isInlineAsm())
    return hasCallInside(assemblyOf(instruction)) ? probe : otherAssembly;
  if (instruction.isCall())
    return call;
  if (instruction.isBranch())
    return jump;
  if (instruction.isReturn())
    return 1;
  int64_t bytes = opcode;
  for (const MachineOperand &operand : instruction.explicit_operands())
    bytes += bytesOf(operand);
  return bytes;
}

/// What a due probe calls.
static const MachineOperand *entryOf(const MachineInstr &probe) {
  for (unsigned at = InlineAsm::MIOp_FirstOperand; at + 1 < probe.getNumOperands() && probe.getOperand(at).isImm();) {
    InlineAsm::Flag group(uint32_t(probe.getOperand(at).getImm()));
    if (group.isImmKind() && probe.getOperand(at + 1).isGlobal())
      return &probe.getOperand(at + 1);
    at += 1 + group.getNumOperandRegisters();
  }
  return nullptr;
}

/// Whether code runs on from `block` to the one that lies behind it.
static bool runsOn(const MachineBasicBlock &block) {
  for (const MachineInstr &last : reverse(block))
    if (!last.isMetaInstruction())
      return !last.isBarrier() && !block.succ_empty();
  return !block.succ_empty();
}

void Gaps::look(MachineFunction &function) {
  Frame frame;
  SmallVector<Frame, 2> remembered;
  int64_t at = 0;
  for (MachineBasicBlock &block : function) {
    at += int64_t(block.getAlignment().value()) / 2;
    for (MachineInstr &instruction : block) {
      if (instruction.isCFIInstruction())
        frame.follow(function.getFrameInstructions()[instruction.getOperand(0).getCFIIndex()], remembered);
      at += bytesOf(instruction);
      if (!hasCallInside(assemblyOf(instruction)))
        continue;
      if (const MachineOperand *entry = entryOf(instruction))
        probes_.push_back({&instruction, entry, at, frame});
    }
    if (!runsOn(block))
      gaps_.push_back({&block, at, frame, {}});
  }
}

/// The closest gap in which the frame is the probe's, or else can be said to be; null: none is close.
Gap *Gaps::chosen(const Found &found) {
  static constexpr int64_t reach = 127; // estimates are rather too large, which is room for calls that come between later
  auto isInFront = [](const Gap &gap, int64_t at) { return gap.at < at; };
  auto first = lower_bound(gaps_, found.at - reach, isInFront);
  auto middle = std::lower_bound(first, gaps_.end(), found.at, isInFront);
  Gap *best = nullptr;
  std::pair<bool, int64_t> rank(true, reach + 1);
  auto consider = [&](Gap &gap, int64_t &calls) {
    calls += callBytes * int64_t(gap.probes.size());
    std::pair<bool, int64_t> own(!(gap.frame == found.frame), std::abs(gap.at - found.at) + calls + callBytes);
    bool canBeSaid = gap.frame == found.frame || (gap.frame.savesAs(found.frame) && found.frame.others == 0);
    if (canBeSaid && own.second <= reach && own < rank) {
      best = &gap;
      rank = own;
    }
  };
  int64_t calls = 0;
  for (auto gap = middle; gap != gaps_.end() && gap->at <= found.at + reach; ++gap)
    consider(*gap, calls);
  calls = 0;
  for (auto gap = middle; gap != first;)
    consider(*--gap, calls);
  return best;
}

void Gaps::move(const Found &found, MachineBasicBlock &into) {
  // Labels of the assembler's own. The function's number is unique in what is assembled together.
  std::string call = (".Lcaudal" + Twine(function_->getFunctionNumber()) + "_" + Twine(moved_++)).str(), back = call + "b";
  std::string text = withCallAside(assemblyOf(*found.probe), call, back);
  found.probe->getOperand(InlineAsm::MIOp_AsmString).ChangeToES(function_->createExternalSymbolName(text));
  text = call + ":\tcall ${0:P}\n\tjmp " + back;
  BuildMI(into, into.end(), found.probe->getDebugLoc(), instructions_->get(TargetOpcode::INLINEASM))
      .addExternalSymbol(function_->createExternalSymbolName(text))
      .addImm(InlineAsm::Extra_HasSideEffects)
      .addImm(int64_t(uint32_t(InlineAsm::Flag(InlineAsm::Kind::Imm, 1))))
      .add(*found.entry);
}

void Gaps::fill(const Gap &gap) {
  MachineBasicBlock *into = function_->CreateMachineBasicBlock();
  function_->insert(std::next(gap.behind->getIterator()), into);
  auto say = [&](const MCCFIInstruction &directive) {
    BuildMI(*into, into->end(), DebugLoc(), instructions_->get(TargetOpcode::CFI_INSTRUCTION))
        .addCFIIndex(function_->addFrameInst(directive));
  };
  for (const Found *found : gap.probes) {
    bool isSame = found->frame == gap.frame;
    if (!isSame) {
      say(MCCFIInstruction::createRememberState(nullptr));
      say(MCCFIInstruction::cfiDefCfa(nullptr, found->frame.base, found->frame.offset));
    }
    move(*found, *into);
    if (!isSame)
      say(MCCFIInstruction::createRestoreState(nullptr));
  }
}

bool Gaps::runOnMachineFunction(MachineFunction &function) {
  if (function.hasBBSections()) // blocks may come to lie anywhere
    return false;
  probes_.clear();
  gaps_.clear();
  moved_ = 0;
  function_ = &function;
  instructions_ = function.getSubtarget().getInstrInfo();
  look(function);
  for (const Found &found : probes_)
    if (Gap *gap = chosen(found))
      gap->probes.push_back(&found);
  for (const Gap &gap : gaps_)
    if (!gap.probes.empty())
      fill(gap);
  return moved_ != 0;
}

} // namespace

void useGaps() {
  static RegisterTargetPassConfigCallback registration(
      [](TargetMachine &, PassManagerBase &, TargetPassConfig *passes) {
        passes->insertPass(&UnpackMachineBundlesID, IdentifyingPassPtr(new Gaps)); // the last one for x86-64
      });
}

} // namespace caudal

#else

namespace caudal {

void useGaps() {}

} // namespace caudal

#endif
