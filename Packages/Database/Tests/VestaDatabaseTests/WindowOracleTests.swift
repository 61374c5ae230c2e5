import Foundation
import Testing

/// Windows of queries together with every kind of listen and unlisten, through the public API, against the oracle.
///
/// In each round clients listen, stop, read and give up without waiting for anything, while one client writes. When
/// all of them have settled, every query shows what the documentation says. A failure names its seed; what runs at the
/// same time differs from run to run.
@Suite(.timeLimit(.minutes(20)))
struct WindowOracleTests {
  @Test(arguments: 0..<60)
  func `every window equals the tree's, however clients listen and stop during writes`(seed: UInt64) async {
    let history = OracleHistory(seed: seed, isShared: false)
    for round in 0..<14 { await history.round(round) }
    await history.end()
  }

  @Test(arguments: 0..<30)
  func `every window is that of the tree with two engines on one store`(seed: UInt64) async {
    let history = OracleHistory(seed: seed &+ 5_000, isShared: true)
    for round in 0..<10 { await history.round(round) }
    await history.end()
  }
}

/// The same over many more seeds; with `VESTA_SOAK=1`, `VESTA_SEEDS` of them from `VESTA_SEED` on.
struct WindowOracleSoakTests {
  @Test(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1"))
  func `many histories of windows agree with the oracle`() async {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["VESTA_SEED"].flatMap { UInt64($0) } ?? 10_000
    let count = environment["VESTA_SEEDS"].flatMap { UInt64($0) } ?? 1_000
    for seed in first..<(first + count) {
      let history = OracleHistory(seed: seed, isShared: seed % 4 == 3)
      for round in 0..<14 { await history.round(round) }
      await history.end()
    }
  }
}
