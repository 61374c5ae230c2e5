import Foundation

// Some chapters start this program once more, to show what another process finds, or to kill it. The environment says
// which part the second process plays, and with which data.

/// The parts that a second process can play.
enum Part: String {
  /// Says who is signed in.
  case visitor
  /// Writes documents until it is killed, and prints the number of each one that was acknowledged.
  case writer

  fileprivate static let variable = "VESTA_TOUR_PART"
  fileprivate static let dataVariable = "VESTA_TOUR_PART_DATA"
}

/// Starts this program once more.
///
/// - Returns: The process, and what it prints.
func startAgain(as part: Part, with data: String) throws -> (process: Process, output: FileHandle) {
  let (process, output) = (Process(), Pipe())
  process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  process.environment = ProcessInfo.processInfo.environment
    .merging([Part.variable: part.rawValue, Part.dataVariable: data]) { $1 }
  process.standardOutput = output
  try process.run()
  return (process, output.fileHandleForReading)
}

/// In a second process: plays its part.
///
/// - Returns: Whether this is a second process, whose work is done.
func playsAPart() async throws -> Bool {
  let environment = ProcessInfo.processInfo.environment
  guard let part = environment[Part.variable].flatMap(Part.init), let data = environment[Part.dataVariable] else {
    return false
  }
  switch part {
  case .visitor: try await visitor(data)
  case .writer: try await writer(data)
  }
  return true
}
