import Testing
import VestaFirestoreBackend
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Clocks that jump, and read times that were handed out before.
struct ClockTests {
  private static func engines(_ clock: ManualClock, _ count: Int = 2) -> [FirestoreEngine] {
    let store = ModelStore(clock: clock.ofStore)
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    return (0..<count).map { _ in FirestoreEngine(store: store, options: options) }
  }

  /// The number in a document, and the time at which it was read.
  private static func number(
    _ engine: FirestoreEngine, _ consistency: ReadConsistency = .latest
  ) async throws -> (number: Value?, time: Timestamp) {
    var found: Value?
    var time = Timestamp(microseconds: 0)
    let request = BatchGetDocumentsRequest(
      database: database, documents: [name("rooms/a")], consistency: consistency)
    try await engine.batchGet(request, context: owner) { response in
      time = response.readTime ?? time
      if case .found(let document)? = response.result { found = document.fields["n"] }
    }
    return (found, time)
  }

  @Test func `a time that was read once can be read after the clock was set back`() async throws {
    let clock = ManualClock()
    let engines = Self.engines(clock)
    try await engines[0].commit(update("rooms/a", ["n": .integer(1)]))
    clock.advance(seconds: 60)
    let time = Timestamp(microseconds: clock.now)
    #expect(try await Self.number(engines[0], .readTime(time)).number == .integer(1))
    clock.jump(to: clock.now - 30_000_000)
    // The engine that read it, and another one on the store, which has to ask.
    for engine in engines {
      #expect(try await Self.number(engine, .readTime(time)).number == .integer(1))
      let options = TransactionOptions.readOnly(readTime: time)
      #expect(try await Self.number(engine, .newTransaction(options)).number == .integer(1))
    }
    try await engines[1].commit(update("rooms/a", ["n": .integer(2)]))
    for engine in engines { #expect(try await Self.number(engine, .readTime(time)).number == .integer(1)) }
  }

  @Test func `a time after all that the store has reached is in the future`() async throws {
    let clock = ManualClock()
    let engines = Self.engines(clock)
    try await engines[0].commit(update("rooms/a", ["n": .integer(1)]))
    for engine in engines {
      for ahead in [Int64(1_000_000), 3_600_000_000] {
        let time = Timestamp(microseconds: clock.now + ahead)
        let refusal = await failure { _ = try await Self.number(engine, .readTime(time)) }
        #expect(refusal?.code == .invalidArgument)
        #expect(refusal?.message.contains("future") == true)
      }
    }
  }

  @Test func `the first time of all is too old, and not in the future`() async throws {
    let clock = ManualClock()
    for engine in Self.engines(clock) {
      try await engine.commit(update("rooms/a", ["n": .integer(1)]))
      for microseconds in [Int64(0), 1] {
        let time = Timestamp(microseconds: microseconds)
        let refusal = await failure { _ = try await Self.number(engine, .readTime(time)) }
        #expect(refusal?.code == .failedPrecondition && refusal?.message.contains("too old") == true)
      }
    }
  }

  @Test func `a database is empty at times before it was made, within the retention`() async throws {
    let clock = ManualClock()
    let engines = Self.engines(clock)
    let before = Timestamp(microseconds: clock.now - 1_800_000_000)
    let tooOld = Timestamp(microseconds: clock.now - 7_200_000_000)
    try await engines[0].commit(update("rooms/a", ["n": .integer(1)]))
    for engine in engines {
      #expect(try await Self.number(engine, .readTime(before)).number == nil)
      #expect(try await engine.query(.all("rooms"), .readTime(before)) == [])
      #expect(try await engine.query(.all("rooms")).count == 1)
      let refusal = await failure { _ = try await Self.number(engine, .readTime(tooOld)) }
      #expect(refusal?.code == .failedPrecondition)
    }
    clock.advance(seconds: 3_600)
    try await engines[0].commit(update("rooms/a", ["n": .integer(2)]))
    let refusal = await failure { _ = try await Self.number(engines[1], .readTime(before)) }
    #expect(refusal?.code == .failedPrecondition)
  }

  @Test func `a resume token from before a database was made starts over: its store may be another`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let before = clock.now - 60_000_000
    try await engine.commit(update("rooms/a", [:]))
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, .all("rooms")), resume: .token(ResumeToken.encode(before))))
    try await follower.current([2])
    #expect(follower.changes.contains(.reset) && follower.targets[2]?.count == 1)
  }

  /// Whatever the clock does: every time that an answer had is read again with the same result, by any engine.
  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
  func `with a clock that jumps, one read time has one answer`(seed: UInt64) async throws {
    var generator = SplitMix(seed: seed)
    let clock = ManualClock()
    let engines = Self.engines(clock)
    try await engines[0].commit(update("rooms/a", ["n": .integer(0)]))
    var known: [(time: Timestamp, number: Value?)] = []
    var (written, last): (Int64, Int64) = (0, 0)
    var (again, tooOld) = (0, 0)
    for _ in 0..<400 {
      guard let engine = engines.randomElement(using: &generator) else { return }
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: clock.jump(to: clock.now + Int64.random(in: -300_000_000...300_000_000, using: &generator))
      case 1, 2: clock.advance(by: .milliseconds(Int.random(in: 0...20_000, using: &generator)))
      case 3:
        written += 1
        let commit = try await engine.commit(update("rooms/a", ["n": .integer(written)]))
        let version = try #require(commit.commitTime.microseconds)
        #expect(version > last, "seed \(seed)")
        last = version
        known.append((commit.commitTime, .integer(written)))
      case 4:
        let read = try await Self.number(engine)
        #expect(read.number == .integer(written), "seed \(seed)")
        known.append((read.time, read.number))
      case 5:
        let time = Timestamp(microseconds: clock.now)
        guard let read = try? await Self.number(engine, .readTime(time)) else { continue }
        known.append((time, read.number))
      default:
        guard let (time, number) = known.randomElement(using: &generator) else { continue }
        do {
          #expect(try await Self.number(engine, .readTime(time)).number == number, "seed \(seed): \(time)")
          again += 1
        } catch let error as FirestoreServiceError where error.code == .failedPrecondition {
          let latest = try await Self.number(engine).time
          #expect((latest.microseconds ?? 0) - (time.microseconds ?? 0) > 3_600_000_000, "seed \(seed): \(error)")
          tooOld += 1
        }
      }
    }
    #expect(again > 50, "seed \(seed): \(again) read again, \(tooOld) too old")
  }
}
