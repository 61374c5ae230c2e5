import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaMessagingService

/// Threads that call the receivers of connections: few for quick ones, more for ones that block.
@Suite struct DeliveryRunnerTests {
  private static let patience = Duration.milliseconds(1)

  private let clock = ManualClock()
  private let gate = Gate()
  private let log = EventLog<String>(patience: .seconds(300))

  private func runner(on pool: BlockingPool = BlockingPool(limit: 100), limit: Int = 100) -> DeliveryRunner {
    let clock = clock
    let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
    return DeliveryRunner(on: pool, limit: limit, patience: Self.patience, clock: service)
  }

  /// A connection whose receiver records its name and the text of the message, and then may wait for the gate.
  private func connection(_ name: String, of runner: DeliveryRunner, blocks: Bool = false) -> Session {
    let (log, gate) = (log, gate)
    return Session(
      key: RegistrationKey(installationID: name, senderID: "1"), platform: "linux", token: name, startNumber: 0,
      window: 10, runner: runner, onEnd: { _ in }
    ) { delivery in
      log.record(name + (delivery.message.data["text"] ?? ""))
      if blocks { _ = gate.passes() }
    }
  }

  private func deliver(_ text: String = "", number: Int64 = 1, to session: Session) throws {
    var record = MessageRecord()
    record.kind = .topic
    record.json = PushMessage(to: .topic("news"), data: ["text": text]).json
    let message = try #require(DispatchedMessage(number: number, record: record))
    _ = session.deliver(message.delivery(platform: "linux", senderID: "1"), number: number, isBroadcast: true)
  }

  @Test func `one thread calls the quick receivers of many connections`() async throws {
    let runner = runner()
    let names = (0..<100).map { "\($0)" }
    try deliver(to: connection("first", of: runner, blocks: true))
    for name in names { try deliver(to: connection(name, of: runner)) }
    try await log.wait(for: "the first") { $0 == ["first"] }
    #expect(runner.threads == 1)
    gate.open()
    try await log.wait(for: "the others, in order") { $0 == ["first"] + names }
    #expect(clock.deadlines.count == 1, "one timer for all of them")
  }

  @Test func `a receiver that blocks delays the other ones by one patience, and later ones not at all`() async throws {
    let runner = runner()
    try deliver(to: connection("blocked", of: runner, blocks: true))
    try await log.wait(for: "the blocked one") { $0.count == 1 }
    try deliver(to: connection("second", of: runner))
    try deliver(to: connection("third", of: runner))
    clock.advance(by: Self.patience)
    try await log.wait(for: "the others") { $0 == ["blocked", "second", "third"] }
    // The timer finds that no connection waits.
    clock.advance(by: Self.patience * 2)
    #expect(clock.deadlines.isEmpty)
    try deliver(to: connection("fourth", of: runner))
    try await log.wait(for: "the fourth") { $0.last == "fourth" }
    #expect(clock.deadlines.isEmpty)
    gate.open()
  }

  @Test func `the threads that start double while connections wait, up to the limit`() async throws {
    let runner = runner(limit: 6)
    for number in 0..<20 { try deliver(to: connection("\(number)", of: runner, blocks: true)) }
    for (threads, called) in [(1, 1), (2, 2), (4, 4), (6, 6), (6, 6)] {
      try await log.wait(for: "\(called) receivers") { $0.count == called }
      #expect(runner.threads == threads)
      clock.advance(by: Self.patience)
    }
    clock.advance(by: Self.patience)
    try deliver(to: connection("late", of: runner))
    #expect(runner.threads == 6)
    #expect(clock.deadlines.isEmpty, "no timer where no thread may start")
    gate.open()
    try await log.wait(for: "all receivers") { $0.count == 21 }
    while runner.threads != 0 { await Task.yield() }
  }

  @Test func `the timer is set again for a receiver that blocks later`() async throws {
    let runner = runner(limit: 2)
    for round in 1...2 {
      for name in ["blocked", "other"] { try deliver(to: connection(name, of: runner, blocks: true)) }
      try await log.wait(for: "the blocked one") { $0.count == 2 * round - 1 }
      clock.advance(by: Self.patience)
      try await log.wait(for: "the other one") { $0.count == 2 * round }
      clock.advance(by: Self.patience)
      gate.open()
      while runner.threads != 0 { await Task.yield() }
      gate.close()
    }
  }

  @Test func `other work of the pool gets a thread between two connections`() async throws {
    let (pool, log) = (BlockingPool(limit: 1), log)
    let runner = runner(on: pool)
    for name in ["first", "second"] { try deliver(to: connection(name, of: runner, blocks: name == "first")) }
    try await log.wait(for: "the first") { $0.count == 1 }
    pool.async { log.record("work") }
    gate.open()
    try await log.wait(for: "all") { $0 == ["first", "work", "second"] }
  }

  @Test func `a connection receives its messages in order, and gives way to the other ones`() async throws {
    let runner = runner()
    let (first, second) = (connection("a", of: runner, blocks: true), connection("b", of: runner))
    try deliver("1", number: 1, to: first)
    try await log.wait(for: "the first") { $0.count == 1 }
    try deliver("1", number: 1, to: second)
    try deliver("2", number: 2, to: first)
    try deliver("3", number: 3, to: first)
    gate.open()
    try await log.wait(for: "all") { $0 == ["a1", "b1", "a2", "a3"] }
  }
}
