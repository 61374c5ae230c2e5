import Testing
import VestaTesting

/// Random histories of everyday forms: nothing is waited for, everything is interrupted, and in the end each write has
/// been applied once and in order, every listener shows the backend's documents, and every call has ended.
@Suite(.timeLimit(.minutes(60)))
struct EverydayTests {
  static func run(seed: UInt64, steps: Int) async throws {
    let world = try EverydayWorld(seed: seed)
    do {
      for _ in 0..<steps { try await world.step() }
      try await world.settle()
    } catch {
      world.fault("threw \(error)")
    }
    await world.close()
    if !world.faults.isEmpty {
      let fault = world.faults.joined(separator: "\n")
      Issue.record("seed \(seed): \(fault)\nafter\n  \(world.history.suffix(60).joined(separator: "\n  "))")
    }
  }

  @Test(arguments: 1...8) func `each write is applied once and in order, and every call ends`(seed: UInt64)
    async throws
  {
    try await Self.run(seed: seed, steps: 60)
  }
}

/// The same for ten minutes; `Soak` describes the variables.
@Suite(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
struct EverydaySoakTests {
  @Test func `each write is applied once and in order, for ten minutes`() async throws {
    try await Soak("Firestore, everyday forms").run { seed, _ in try await EverydayTests.run(seed: seed, steps: 120) }
  }
}
