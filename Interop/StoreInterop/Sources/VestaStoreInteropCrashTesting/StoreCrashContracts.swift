import VestaConcurrency
public import VestaStoreInterop
public import VestaTesting

/// A store on disk to be held to its promises across killed processes.
public struct StoreCrashSubject: Sendable {
  /// A directory without other users.
  public let directory: String

  /// How often a process is killed; ten is a look, two hundred a test.
  public let rounds: Int

  let open: @Sendable (_ clock: StoreClock) async throws -> any OrderedStore
  private let start: @Sendable (_ arguments: [String]) throws -> WorkerProcess

  /// Starts the process that is killed.
  ///
  /// - Parameter arguments: What `CrashWorker` takes.
  public func launch(_ arguments: [String]) throws -> WorkerProcess { try start(arguments) }

  /// A subject.
  ///
  /// - Parameters:
  ///   - directory: A directory without other users; the store in it is made by the check.
  ///   - rounds: How often a process is killed.
  ///   - start: Starts the process that calls `CrashWorker.run`, with these arguments.
  ///   - open: Opens the store of the directory in this process.
  public init(
    directory: String,
    rounds: Int = 10,
    start: @escaping @Sendable (_ arguments: [String]) throws -> WorkerProcess,
    open: @escaping @Sendable (_ clock: StoreClock) async throws -> any OrderedStore
  ) {
    self.directory = directory
    self.rounds = rounds
    self.start = start
    self.open = open
  }
}

/// The promises of a store on disk when its process is killed, and when a second process opens it.
///
/// ```swift
/// let outcomes = await StoreCrashContracts.all.run {
///   let directory = try TemporaryDirectory()
///   let start = { try WorkerProcess("MyCrashWorker", arguments: $0) }
///   return StoreCrashSubject(directory: directory.path, start: start) { clock in
///     try await MyStore.open(named: "test", in: directory.path, options: StoreOptions(clock: clock))
///   }
/// }
/// ```
///
/// A kill does not lose what the system still has to write, so these checks do not see a missing `fsync`: that takes a
/// loss of power, or a layer under the store that drops what was not synced.
public enum StoreCrashContracts {
  /// Every promise.
  public static let all: [Contract<StoreCrashSubject>] = [
    Contract("what was acknowledged survives a kill, and the rest is whole or absent") { subject in
      let seed = UInt64.random(in: 0...UInt64.max)
      do {
        try await kill(subject, seed: seed)
      } catch let violation as ContractViolation {
        throw ContractViolation("\(violation) (seed \(seed))")
      }
    },
    Contract("a second process is refused while the store is open, and let in when its owner was killed") { subject in
      let owner = try subject.launch(["hold", subject.directory])
      try await owner.wait(for: "ready")
      do {
        let store = try await subject.open(.system)
        try? await store.close()
        _ = try await owner.killAfter(microseconds: 0, afterLine: nil)
        throw ContractViolation("two processes have the store open")
      } catch let error as StoreError {
        _ = try await owner.killAfter(microseconds: 0, afterLine: nil)
        try expect(error.code, equals: .locked, "code of opening it in a second process")
      }
      let store = try await subject.open(.system)
      try await store.put([1], for: [1])
      let second = try subject.launch(["hold", subject.directory])
      let lines = await second.finish()
      try expect(lines.contains { $0.hasPrefix("error") && $0.contains("locked") }, "a second process said \(lines)")
      try expect(try await store.get([1]), equals: [1], "value after the attempt")
      try await store.close()
    },
    Contract("a floor holds after a kill, with the clock set back too") { subject in
      let owner = try subject.launch(["raise", subject.directory])
      try await owner.wait(forPrefix: "raised ")
      let lines = try await owner.killAfter(microseconds: 0, afterLine: nil)
      let raised = lines.first { $0.hasPrefix("raised ") }.flatMap { Int64($0.dropFirst(7)) }
      let floor = try expectValue(raised, "the floor that the process raised")
      let yesterday = StoreClock {
        StoreTime(wall: StoreClock.system.now.wall - 86_400_000_000, steady: StoreClock.system.now.steady)
      }
      let store = try await subject.open(yesterday)
      let version = try await store.put([2], for: [1])
      try expect(version.microseconds > floor, "\(version) after a floor of \(floor)")
      try await store.close()
    },
  ]

  private static func kill(_ subject: StoreCrashSubject, seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var acknowledged: Set<Int> = []
    var newest: Int64 = 0
    var first = 1
    var round = 0
    // On a busy machine a process may be killed before it has committed anything: then there are more rounds.
    while round < subject.rounds || acknowledged.count <= subject.rounds {
      let tasks = round % 2 == 0 ? 1 : 8
      let worker = try subject.launch(["write", subject.directory, "\(first)", "\(tasks)"])
      let delay = random.below(60_000)
      // Every fifth is killed while it opens the store.
      let lines = try await worker.killAfter(
        microseconds: delay, afterLine: round % 5 == 4 ? nil : "ready", andMore: 2 + random.below(4))
      let acknowledgements = lines.map { $0.split(separator: " ").compactMap { Int64($0) } }.filter { $0.count == 2 }
      acknowledged.formUnion(acknowledgements.map { Int($0[0]) })
      newest = max(newest, acknowledgements.map { $0[1] }.max() ?? 0)
      let last = max(acknowledged.max() ?? 0, first) + tasks
      let isWhole = round % 20 == 19 || round >= subject.rounds - 1
      newest = try await check(subject, acknowledged, (isWhole ? 1 : first)...last, newest, round)
      first = last + 1
      round += 1
    }
  }

  /// Opens the store and looks at transactions; returns the newest version that was seen.
  private static func check(
    _ subject: StoreCrashSubject, _ acknowledged: Set<Int>, _ numbers: ClosedRange<Int>, _ newest: Int64, _ round: Int
  ) async throws -> Int64 {
    let store = try await subject.open(.system)
    let (version, wrong) = try await store.read { reader in
      var wrong: [String] = []
      for number in numbers {
        let count = try await Numbered.count(number, in: reader)
        let isRight = acknowledged.contains(number) ? count == Numbered.keys : [0, Numbered.keys].contains(count)
        if !isRight { wrong.append("\(number): \(count) of \(Numbered.keys)") }
      }
      return (reader.version, wrong)
    }
    try expect(wrong, equals: [], "transactions that are not as they should be, round \(round)")
    try expect(version.microseconds >= newest, "round \(round): \(version) after an acknowledged \(newest)")
    let next = try await store.put([UInt8(truncatingIfNeeded: round)], for: [0])
    try expect(next > version, "\(next) after \(version), round \(round)")
    try await store.close()
    return next.microseconds
  }
}
