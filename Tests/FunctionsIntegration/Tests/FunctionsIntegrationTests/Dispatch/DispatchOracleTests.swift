import Testing
import VestaConcurrency
import VestaTesting

/// Each change reaches every function that was registered when it was committed, in the order of its document, as often
/// and as many at once as documented: compared with a model that knows the documentation alone.
@Suite(.timeLimit(.minutes(30)))
struct DispatchOracleTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `functions get the changes that they follow, whatever other functions do`(seed: UInt64) async throws {
    try await Self.run(seed)
  }

  static func run(_ seed: UInt64) async throws {
    let plan = DispatchPlan(seed: seed)
    let history = try DispatchHistory(plan)
    for round in 1...plan.programs { try await run(history, round: round, isLast: round == plan.programs) }
    if !plan.isInMemory { try await history.echo() }
    let problems = history.model.withLock { $0.problems }
    #expect(problems.prefix(10) == [], "seed \(seed), \(problems.count) problems")
  }

  private static func run(_ history: DispatchHistory, round: Int, isLast: Bool) async throws {
    let plan = history.plan
    var random = SplitMix(seed: plan.seed &* 1_000 &+ UInt64(round))
    let programs = plan.isShared ? [try history.start(), try history.start()] : [try history.start()]
    let isOver = Locked(false)
    await withTaskGroup(of: Void.self) { group in
      for (index, document) in ["a", "b", "c"].enumerated() {
        let seed = random.next()
        let program = programs[index % programs.count]
        group.addTask { await write(history, document, program, seed) }
      }
      if !plan.isShared {
        let seed = random.next()
        group.addTask { await churn(history, programs[0], seed) { isOver.withLock { $0 } } }
      }
      // Some programs end while they write.
      let pauses = random.below(2_000)
      if !isLast, random.oneIn(2) {
        for _ in 0..<pauses { await Task.yield() }
        await history.end(programs[0])
        isOver.withLock { $0 = true }
      }
    }
    if isLast { try await history.settle(programs) }
    for program in programs { await history.end(program) }
  }

  private static func write(
    _ history: DispatchHistory, _ document: String, _ program: DispatchHistory.Program, _ seed: UInt64
  ) async {
    var random = SplitMix(seed: seed)
    var last: Int?
    for _ in 0..<(5 + random.below(20)) {
      for _ in 0..<random.below(100) { await Task.yield() }
      let number = if let last, random.oneIn(6) { -last } else { history.next() }
      var changes = [DispatchModel.Change(path: "n/\(document)", number: number)]
      if random.oneIn(3) { changes.append(.init(path: "n/\(document)/m/x", number: history.next())) }
      guard await history.commit(changes, program) else { return }
      last = number < 0 ? nil : number
    }
  }

  private static func churn(
    _ history: DispatchHistory, _ program: DispatchHistory.Program, _ seed: UInt64, _ isOver: () -> Bool
  ) async {
    var random = SplitMix(seed: seed)
    let functions = DispatchPlan.functions
    for _ in 0..<random.below(20) where !isOver() {
      for _ in 0..<random.below(200) { await Task.yield() }
      let function = functions[random.below(functions.count)]
      if !function.isSteady {
        history.remove(function, program)
        for _ in 0..<random.below(200) { await Task.yield() }
      }
      try? history.register(function, program, &random)
    }
  }
}

/// The same for ten minutes.
struct DispatchOracleSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories of functions that follow the same documents agree with the oracle`() async throws {
    try await Soak("Dispatch").run { seed, _ in try await DispatchOracleTests.run(seed) }
  }
}
