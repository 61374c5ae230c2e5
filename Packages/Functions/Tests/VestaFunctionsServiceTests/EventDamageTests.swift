import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// Rows of an outbox whose bytes are wrong, and functions that do not behave.
@Suite struct EventDamageTests {
  /// A queue of the function `f` with one event for each path, each of its own commit.
  private func queue(_ paths: String..., bench: EventBench = EventBench()) async throws -> EventBench {
    bench.outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for path in paths { try await bench.create(path) }
    return bench
  }

  /// Replaces the bytes of the row that is about a path.
  private func damage(_ path: String, in bench: EventBench, _ change: (inout [UInt8]) -> Void) async throws {
    for entry in try await rows(bench) where entry.value.containsBytes(Array(path.utf8)) {
      var value = entry.value
      change(&value)
      try await bench.store.put(value, for: entry.key)
    }
  }

  private func rows(_ bench: EventBench) async throws -> [StoreEntry] {
    try await bench.store.read { try await $0.entries(in: KeyRange(prefix: [9])) }
  }

  @Test func `a damaged event becomes a dead letter with its bytes, and the queue continues`() async throws {
    let bench = try await queue("a/1", "a/2", "a/3")
    try await damage("a/2", in: bench) { $0 = [0xFF, 0xFF, 0xFF] }
    let log = Log<String>()
    try bench.registry.log(log)
    await log.wait { Set($0) == ["1", "3"] }
    try await bench.pass { try await bench.queue("f").isEmpty }
    let letters = try await bench.registry.deadLetters(of: "f")
    #expect(letters.count == 1 && letters[0].damage != nil && letters[0].reason.contains("damaged"))

    // A version that reads it would deliver it; this one sets it aside again.
    #expect(try await bench.registry.resend(letters, to: "f") == 1)
    try await bench.pass { try await bench.queue("f").isEmpty }
    let again = try await bench.registry.deadLetters(of: "f")
    #expect(again.count == 1 && again[0].damage != nil)
    #expect(try await bench.registry.discard(again, of: "f") == 1)
    #expect(log.entries.count == 2)
    await bench.events.close()
    #expect(try await rows(bench).isEmpty)
  }

  @Test(arguments: 0..<30) func `whatever is wrong with a row, the events of the others are delivered`(
    seed: Int
  ) async throws {
    let (bench, random) = (try await queue("a/1", "a/22", "a/3"), Locked(SplitMix(seed: UInt64(seed))))
    try await damage("a/22", in: bench) { bytes in
      random.withLock { random in
        switch seed % 4 {
        case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
        case 1:
          let place = Int.random(in: 0..<bytes.count, using: &random)
          bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
        case 2: bytes += (0..<5).map { _ in UInt8.random(in: 0...255, using: &random) }
        default: bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
      }
    }
    let log = Log<String>()
    try bench.registry.onDocumentCreated("f", document: "{path=**}") { log.add($0.subject) }
    await log.wait { $0.contains("a/1") && $0.contains("a/3") }
    // The damaged one may still be readable: then it is delivered, otherwise it is a dead letter.
    try await bench.pass { try await bench.queue("f").isEmpty }
    let letters = try await bench.registry.deadLetters(of: "f")
    #expect(letters.count + Set(log.entries).subtracting(["a/1", "a/3"]).count <= 1)
    await bench.events.close()
  }

  @Test func `an event whose data cannot be made is set aside at once and stays to be looked at`() async throws {
    let store = ModelStore()
    let outbox = EventOutbox(
      service: "firestore.googleapis.com", keys: [9], types: [.documentCreated], store: { store }
    ) { record in
      if record.path == "a/2" { throw Broken() }
      return [:]
    }
    let bench = try await queue("a/1", "a/2", "a/3", bench: EventBench(store: store, outbox))
    let log = Log<String>()
    try bench.events.register(
      EventFunction(
        subscription: EventSubscription(function: "f", types: [.documentCreated]), options: EventOptions()
      ) { log.add($0.path) })
    let start = bench.clock.now
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(bench.clock.now - start < 5_000_000, "no attempt can mend it, so none is waited for")
    #expect(Set(log.entries) == ["a/1", "a/3"])
    let letters = try await bench.registry.deadLetters(of: "f")
    #expect(letters.map(\.subject) == ["a/2"])
    #expect(letters[0].damage != nil)
    await bench.events.close()
  }

  @Test func `a damaged count of attempts, lease or key stops nothing`() async throws {
    let bench = try await queue("a/1")
    let rows = try await rows(bench)
    let position = try await bench.queue("f")[0].position
    let state = [9] + KeyEncoder(.int(2), .string("f"), .int(position.version), .int(position.number)).bytes
    try await bench.store.put([0xFF, 0xFF], for: state)
    try await bench.store.put([0xFF, 0xFF, 0xFF], for: [9] + KeyEncoder(.int(4)).bytes)
    try await bench.store.put([1], for: [9] + KeyEncoder(.int(1), .string("f")).bytes + [0xEE])
    let log = Log<String>()
    try bench.registry.log(log)
    await log.wait { $0 == ["1"] }
    let readable = rows[0].key
    try await bench.pass { try await bench.store.get(readable) == nil }
    #expect(try await bench.store.get(state) == nil)
    await bench.events.close()
  }

  @Test func `a damaged dead letter is listed, stays when it is sent again, and can be discarded`() async throws {
    let bench = try await queue("a/1", "a/2")
    var options = EventOptions()
    options.maximumAttempts = 1
    try bench.registry.log(Log<String>(), options: options) { _ in throw Broken() }
    let registry = bench.registry
    try await bench.pass { try await registry.deadLetters(of: "f").count == 2 }
    try await damage("a/1", in: bench) { $0 = [0xFF] }
    let letters = try await registry.deadLetters(of: "f")
    #expect(letters.map { $0.damage != nil } == [true, false])
    #expect(try await registry.resend([letters[0]], to: "f") == 0)
    #expect(try await registry.discard(letters, of: "f") == 2)
    await bench.events.close()
  }

  @Test func `a function that ignores its time limit does not hold up other functions`() async throws {
    let bench = EventBench { $0.maximumConcurrentEvents = 2 }
    let (stuck, log, gate) = (Log<String>(), Log<String>(), Gate())
    var options = EventOptions()
    options.timeout = .seconds(5)
    try bench.registry.onDocumentCreated("stuck", document: "s/{id}", options: options) { event in
      stuck.add(event.subject)
      await gate.wait()
    }
    try bench.registry.log(log)
    try await bench.create("s/1", "s/2", "s/3")
    await stuck.wait { $0.count == 2 }
    try await bench.create("a/x")
    await bench.pass { log.entries == ["x"] }
    gate.open()
    await bench.events.close()
  }

  @Test func `a function changes documents that functions are notified of, and closes everything from inside`()
    async throws
  {
    let bench = EventBench()
    let log = Log<String>()
    let events = bench.events
    try bench.registry.log(log) { event in
      guard let number = Int(event.params["id"] ?? "") else { return }
      if number < 40 { try await bench.create("a/\(number + 1)") } else { await events.close() }
      log.add("done \(number)")
    }
    try await bench.create("a/0")
    await log.wait { $0.contains("done 40") }
    #expect(log.entries.filter { !$0.hasPrefix("done") } == (0...40).map { "\($0)" })
  }
}

extension [UInt8] {
  fileprivate func containsBytes(_ other: [UInt8]) -> Bool {
    guard count >= other.count else { return false }
    return (0...(count - other.count)).contains { Array(self[$0..<($0 + other.count)]) == other }
  }
}
