import Testing
import VestaTesting

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

/// The same for ten minutes.
struct WindowOracleSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of windows agree with the oracle`() async {
    await Soak("Database, windows").run { seed, _ in
      let history = OracleHistory(seed: seed, isShared: seed % 4 == 3)
      for round in 0..<14 { await history.round(round) }
      await history.end()
    }
  }
}
