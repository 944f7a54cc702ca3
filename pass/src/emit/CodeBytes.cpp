// Estimates how many bytes finished machine code takes. Called by Alignment.cpp and Gaps.cpp. See CodeBytes.h.
#include "emit/CodeBytes.h"
#include "analysis/ProbesInCode.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace caudal {

StringRef assemblyOf(const MachineInstr &instruction) {
  return instruction.isInlineAsm() ? StringRef(instruction.getOperand(InlineAsm::MIOp_AsmString).getSymbolName()) : "";
}

/// Where an address's five operands begin (base, scale, index, displacement, segment); the end: there is none.
static unsigned addressOf(const MachineInstr &instruction) {
  const TargetInstrInfo &names = *instruction.getMF()->getSubtarget().getInstrInfo();
  if (names.getName(instruction.getOpcode()).starts_with("LEA"))
    return 1; // after the result: it says where, not what is there
  ArrayRef<MCOperandInfo> operands = instruction.getDesc().operands();
  return unsigned(find_if(operands, [](const MCOperandInfo &operand) { return operand.OperandType == MCOI::OPERAND_MEMORY; }) -
                  operands.begin());
}

/// The bytes of an immediate value, or of a displacement, which has none if it is 0.
static int64_t bytesOf(const MachineOperand &operand, bool isDisplacement) {
  if (!operand.isImm())
    return operand.isReg() ? 0 : 4;
  return isDisplacement && operand.getImm() == 0 ? 0 : isInt<8>(operand.getImm()) ? 1 : 4;
}

/// Opcode, prefixes, and the bytes that say which registers; an address begins `at` an operand.
static int64_t bytesOfOpcode(const MachineInstr &instruction, unsigned at) {
  static constexpr unsigned index = 2, addressOperands = 5, stackPointer = 4, extended = 8, ofAVX512 = 16;
  const TargetRegisterInfo &registers = *instruction.getMF()->getSubtarget().getRegisterInfo();
  ArrayRef<MCOperandInfo> operands = instruction.getDesc().operands();
  int64_t opcode = 2, prefix = 0, scaled = 0;
  for (unsigned number = 0; number < std::min<size_t>(instruction.getNumExplicitOperands(), operands.size()); number++) {
    const MachineOperand &operand = instruction.getOperand(number);
    if (!operand.isReg() || !operand.getReg().isPhysical())
      continue;
    StringRef name = registers.getName(operand.getReg());
    unsigned code = registers.getEncodingValue(operand.getReg());
    bool isOfAddress = number >= at && number < at + addressOperands;
    // Classes do not tell: a scalar in a vector register is as wide as it is.
    if (name.contains("MM"))
      opcode = std::max<int64_t>(opcode, name.starts_with("Z") || code >= ofAVX512 ? 6 : 4);
    else if (!isOfAddress && operands[number].RegClass >= 0)
      prefix |= registers.getRegSizeInBits(*registers.getRegClass(operands[number].RegClass)) == 64;
    prefix |= code >= extended;
    scaled |= number == at + index || (number == at && code % extended == stackPointer);
  }
  return opcode + prefix + scaled;
}

int64_t bytesOf(const MachineInstr &instruction) {
  static constexpr int64_t call = 5, jump = 3, probe = 16, otherAssembly = 8;
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
  unsigned at = addressOf(instruction), scale = at + 1, displacement = at + 3;
  int64_t bytes = bytesOfOpcode(instruction, at);
  for (unsigned number = 0; number < instruction.getNumExplicitOperands(); number++)
    if (number != scale)
      bytes += bytesOf(instruction.getOperand(number), number == displacement);
  return bytes;
}

int64_t bytesOf(const MachineBasicBlock &block) {
  int64_t bytes = 0;
  for (const MachineInstr &instruction : block)
    bytes += bytesOf(instruction);
  return bytes;
}

bool isIndirectJump(const MachineInstr &instruction) { return instruction.isIndirectBranch() && !instruction.isCall(); }

bool runsOn(const MachineBasicBlock &block) {
  for (const MachineInstr &last : reverse(block))
    if (!last.isMetaInstruction())
      return !last.isBarrier() && !block.succ_empty();
  return !block.succ_empty();
}

} // namespace caudal
