// WireSoakProgram CODEC COUNT: feeds a codec that many damaged messages, and says how many it has refused and how much
// the memory of the process has grown. It is a program because Swift Testing records a backtrace for every error that
// is thrown, which costs more than reading a message.
import Foundation
import VestaTesting

guard CommandLine.arguments.count == 3, let codec = WireCodec(rawValue: CommandLine.arguments[1]),
  let count = Int(CommandLine.arguments[2])
else {
  print("usage: WireSoakProgram CODEC COUNT")
  exit(2)
}

let outcome = await (try codec.inputs()).soak(goal: count)
print("refused \(outcome.refused)")
print("grown \(max(outcome.grown, outcome.peak) >> 20)")
