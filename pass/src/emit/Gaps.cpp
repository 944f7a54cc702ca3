// Moves the call that a due probe executes to a place that no code runs through. Called by LLVM, as the last machine pass,
// which Plugin.cpp registers. See Gaps.h.
#include "emit/Gaps.h"
#if __has_include("llvm/Target/RegisterTargetPassConfigCallback.h")
#include "emit/Alignment.h"
#include "emit/CodeBytes.h"
#include "analysis/ProbesInCode.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
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
  unsigned unknown = 0;              ///< which of the directives that are not followed was the last; 0: there was none

  bool operator==(const Frame &other) const {
    return base == other.base && offset == other.offset && saved == other.saved && unknown == other.unknown;
  }
  bool isKnown() const { return unknown == 0; }
};

/// Follows directives in the order of the code.
class Frames {
public:
  Frame now;
  void follow(const MCCFIInstruction &directive);

private:
  SmallVector<Frame, 2> remembered_;
  unsigned unknown_ = 0; ///< how many were not followed
};

void Frames::follow(const MCCFIInstruction &directive) {
  switch (directive.getOperation()) {
  case MCCFIInstruction::OpDefCfa:
    now.base = directive.getRegister();
    now.offset = directive.getOffset();
    return;
  case MCCFIInstruction::OpDefCfaOffset:
    now.offset = directive.getOffset();
    return;
  case MCCFIInstruction::OpAdjustCfaOffset:
    now.offset += directive.getOffset();
    return;
  case MCCFIInstruction::OpDefCfaRegister:
    now.base = directive.getRegister();
    return;
  case MCCFIInstruction::OpOffset:
    now.saved[directive.getRegister()] = directive.getOffset();
    return;
  case MCCFIInstruction::OpRestore:
    now.saved.erase(directive.getRegister());
    return;
  case MCCFIInstruction::OpRememberState:
    remembered_.push_back(now);
    return;
  case MCCFIInstruction::OpRestoreState:
    if (!remembered_.empty())
      now = remembered_.pop_back_val();
    return;
  case MCCFIInstruction::OpGnuArgsSize:
    return;
  default:
    // An expression, as functions have that align their stack: the same frame is only where nothing was said since.
    now.unknown = ++unknown_;
  }
}

/// A probe whose call is in its place.
struct Found {
  MachineInstr *probe;
  const MachineOperand *entry;   ///< what it calls when it is due
  const MachineOperand *carrier; ///< the register whose name ends that one's; null: none
  int64_t at;                    ///< its end: estimated, in bytes from the function's start
  Frame frame;
};

/// A place between two blocks that code does not run through.
struct Gap {
  MachineBasicBlock *after; ///< it lies after this one
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
  bool isAtIndirectJump(int64_t at) const;
  Gap *chosen(const Found &found);
  void fill(const Gap &gap);
  void move(const Found &found, MachineBasicBlock &into);
  void say(const MCCFIInstruction &directive, MachineBasicBlock &into);
  void say(const Frame &is, const Frame &was, MachineBasicBlock &into);
  void keepVariables(MachineInstr &probe, MachineBasicBlock &into);

  std::vector<Found> probes_;
  std::vector<Gap> gaps_;
  std::vector<int64_t> indirectJumps_; ///< their ends
  MachineFunction *function_ = nullptr;
  const TargetInstrInfo *instructions_ = nullptr;
  unsigned moved_ = 0; ///< in this function
};

char Gaps::ID = 0;

/// The function that a due probe calls.
static const MachineOperand *entryOf(const MachineInstr &probe) {
  for (unsigned at = InlineAsm::MIOp_FirstOperand; at + 1 < probe.getNumOperands() && probe.getOperand(at).isImm();) {
    InlineAsm::Flag group(uint32_t(probe.getOperand(at).getImm()));
    if (group.isImmKind() && probe.getOperand(at + 1).isGlobal())
      return &probe.getOperand(at + 1);
    at += 1 + group.getNumOperandRegisters();
  }
  return nullptr;
}

/// The register by which the name of what a due probe calls ends; null: by none.
static const MachineOperand *registerOf(const MachineInstr &probe) {
  return namesRegister(assemblyOf(probe)) ? &probe.getOperand(InlineAsm::MIOp_FirstOperand + 1) : nullptr;
}

/// The mean number of bytes before a block for its alignment.
static int64_t paddingOf(const MachineBasicBlock &block) {
  int64_t boundary = int64_t(block.getAlignment().value()), most = block.getMaxBytesForAlignment();
  return most == 0 || most >= boundary ? boundary / 2 : most * most / (2 * boundary);
}

void Gaps::look(MachineFunction &function) {
  Frames frames;
  int64_t at = 0;
  for (MachineBasicBlock &block : function) {
    at += paddingOf(block);
    for (MachineInstr &instruction : block) {
      if (instruction.isCFIInstruction())
        frames.follow(function.getFrameInstructions()[instruction.getOperand(0).getCFIIndex()]);
      at += bytesOf(instruction);
      if (isIndirectJump(instruction))
        indirectJumps_.push_back(at);
      if (!hasCallInside(assemblyOf(instruction)))
        continue;
      if (const MachineOperand *entry = entryOf(instruction))
        probes_.push_back({&instruction, entry, registerOf(instruction), at, frames.now});
    }
    if (!runsOn(block))
      gaps_.push_back({&block, at, frames.now, {}});
  }
}

/// Whether `at` is within a line or two of the cache of an indirect jump: an interpreter's dispatch, mostly, where all branches
/// that lie close by are in the way of those that are executed.
bool Gaps::isAtIndirectJump(int64_t at) const {
  static constexpr int64_t close = 128;
  auto next = lower_bound(indirectJumps_, at - close);
  return next != indirectJumps_.end() && *next <= at + close;
}

/// The closest gap in which the frame is the probe's, or else can be said to be; null: none is close, or none is good.
Gap *Gaps::chosen(const Found &found) {
  if (isAtIndirectJump(found.at))
    return nullptr;
  static constexpr int64_t reach = 127; // by an estimate: of 466 such jumps of the kernels, two had to be longer
  auto isInFront = [](const Gap &gap, int64_t at) { return gap.at < at; };
  auto first = lower_bound(gaps_, found.at - reach, isInFront);
  auto middle = std::lower_bound(first, gaps_.end(), found.at, isInFront);
  Gap *best = nullptr;
  std::pair<bool, int64_t> rank(true, reach + 1);
  auto consider = [&](Gap &gap, int64_t &calls) {
    calls += callBytes * int64_t(gap.probes.size());
    bool isOther = !(gap.frame == found.frame);
    std::pair<bool, int64_t> own(isOther, std::abs(gap.at - found.at) + calls + callBytes);
    bool canBeSaid = !isOther || (gap.frame.isKnown() && found.frame.isKnown());
    if (canBeSaid && !isAtIndirectJump(gap.at) && own.second <= reach && own < rank) {
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
  text = call + ":\tcall ${0:P}" + (found.carrier ? "_$1" : "") + "\n\tjmp " + back;
  auto aside = BuildMI(into, into.end(), found.probe->getDebugLoc(), instructions_->get(TargetOpcode::INLINEASM))
                   .addExternalSymbol(function_->createExternalSymbolName(text))
                   .addImm(InlineAsm::Extra_HasSideEffects | (found.carrier ? unsigned(InlineAsm::Extra_AsmDialect) : 0))
                   .addImm(int64_t(uint32_t(InlineAsm::Flag(InlineAsm::Kind::Imm, 1))))
                   .add(*found.entry);
  if (found.carrier)
    aside.addImm(int64_t(uint32_t(InlineAsm::Flag(InlineAsm::Kind::RegUse, 1)))).addReg(found.carrier->getReg());
}

void Gaps::say(const MCCFIInstruction &directive, MachineBasicBlock &into) {
  BuildMI(into, into.end(), DebugLoc(), instructions_->get(TargetOpcode::CFI_INSTRUCTION))
      .addCFIIndex(function_->addFrameInst(directive));
}

/// Makes the frame `is` where it was `was`.
void Gaps::say(const Frame &is, const Frame &was, MachineBasicBlock &into) {
  say(MCCFIInstruction::cfiDefCfa(nullptr, is.base, is.offset), into);
  for (auto [saved, offset] : is.saved)
    if (auto before = was.saved.find(saved); before == was.saved.end() || before->second != offset)
      say(MCCFIInstruction::createOffset(nullptr, saved, offset), into);
  for (auto [saved, offset] : was.saved)
    if (!is.saved.count(saved))
      say(MCCFIInstruction::createRestore(nullptr, saved), into);
}

/// Repeats the places of variables at the probe for a debugger, whose knowledge of them ends with a block.
void Gaps::keepVariables(MachineInstr &probe, MachineBasicBlock &into) {
  MapVector<DebugVariable, const MachineInstr *> known;
  const TargetRegisterInfo *registers = function_->getSubtarget().getRegisterInfo();
  for (const MachineInstr &instruction : make_range(probe.getParent()->instr_begin(), probe.getIterator())) {
    if (instruction.isDebugValue())
      known[DebugVariable(instruction.getDebugVariable(), instruction.getDebugExpression(),
                          instruction.getDebugLoc()->getInlinedAt())] = &instruction;
    else if (!instruction.isMetaInstruction())
      known.remove_if([&](const auto &variable) {
        return any_of(variable.second->debug_operands(), [&](const MachineOperand &place) {
          return place.isReg() && place.getReg() && instruction.modifiesRegister(place.getReg(), registers);
        });
      });
  }
  for (const auto &[variable, value] : known)
    into.push_back(function_->CloneMachineInstr(value));
}

void Gaps::fill(const Gap &gap) {
  auto behind = std::next(gap.after->getIterator());
  for (const Found *found : gap.probes) {
    // A block each: what is said of variables is about one probe.
    MachineBasicBlock *into = function_->CreateMachineBasicBlock();
    function_->insert(behind, into);
    bool isOther = !(found->frame == gap.frame);
    if (isOther) {
      say(MCCFIInstruction::createRememberState(nullptr), *into);
      say(found->frame, gap.frame, *into);
    }
    if (function_->getFunction().getSubprogram())
      keepVariables(*found->probe, *into);
    move(*found, *into);
    if (isOther)
      say(MCCFIInstruction::createRestoreState(nullptr), *into);
  }
}

static bool hasProbe(const MachineFunction &function) {
  return any_of(function, [](const MachineBasicBlock &block) {
    return any_of(block, [](const MachineInstr &instruction) { return hasCallInside(assemblyOf(instruction)); });
  });
}

bool Gaps::runOnMachineFunction(MachineFunction &function) {
  if (function.hasBBSections() || !hasProbe(function)) // blocks in sections may come to lie anywhere
    return false;
  probes_.clear();
  gaps_.clear();
  indirectJumps_.clear();
  moved_ = 0;
  function_ = &function;
  instructions_ = function.getSubtarget().getInstrInfo();
  look(function);
  const Function &source = function.getFunction();
  bool isAligned = !source.hasFnAttribute("caudal-without-align-loops") && alignLoops(function, !indirectJumps_.empty());
  if (isAligned) {
    probes_.clear();
    gaps_.clear();
    indirectJumps_.clear();
    look(function);
  }
  for (const Found &found : probes_)
    if (Gap *gap = source.hasFnAttribute("caudal-without-gaps") ? nullptr : chosen(found))
      gap->probes.push_back(&found);
  for (const Gap &gap : gaps_)
    if (!gap.probes.empty())
      fill(gap);
  return isAligned || moved_ != 0;
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
