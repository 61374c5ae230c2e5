import Testing
import VestaBytes
import VestaMessagingBackend
import VestaTesting

@testable import VestaMessagingService

/// The decisions about delivery, event by event.
@Suite struct DispatchMachineTests {
  private static func key(_ name: String) -> RegistrationKey { RegistrationKey(installationID: name, senderID: "1") }

  private let a = Self.key("a")
  private let b = Self.key("b")

  /// A message of a topic, or for one registration; immediate with a time to live of zero.
  private static func message(
    _ number: Int64, to target: PushMessage.Target = .topic("news"), for key: RegistrationKey? = nil,
    isInstant: Bool = false
  ) throws -> DispatchedMessage {
    var record = MessageRecord()
    if let key {
      record.kind = .direct
      (record.installationID, record.senderID) = (key.installationID, key.senderID)
    } else {
      record.kind = .topic
    }
    record.json = PushMessage(to: target, android: ["ttl": .string(isInstant ? "0s" : "60s")]).json
    return try #require(DispatchedMessage(number: number, record: record))
  }

  private func message(_ number: Int64, isInstant: Bool = false) throws -> DispatchedMessage {
    try Self.message(number, isInstant: isInstant)
  }

  /// A machine with the connection 1 of A, which has a topic and has read everything up to 7.
  private func settledMachine(topics: [String: Int64] = ["news": 0]) -> DispatchMachine {
    var machine = DispatchMachine(maximumInstants: 2)
    _ = machine.connected(1, a, platform: "linux", startNumber: 7)
    machine.started(after: 7)
    #expect(machine.loaded(1, a, topics: topics, upTo: 7) == true)
    return machine
  }

  private func ids(_ recipients: [DispatchMachine.Recipient]) -> [Int] { recipients.map(\.id).sorted() }

  @Test func `the worked example`() throws {
    var machine = DispatchMachine(maximumInstants: 10)
    #expect(machine.connected(1, a, platform: "linux", startNumber: 7) == .opened(earlier: nil))
    machine.started(after: 7)
    #expect(machine.arrived(try message(8)).isEmpty)
    #expect(machine.loaded(1, a, topics: ["news": 3], upTo: 7) == false)
    #expect(machine.isAwaited(8) == false)
    #expect(machine.loaded(1, a, topics: ["news": 3], upTo: 8) == true)
    #expect(machine.arrived(try message(9)) == [DispatchMachine.Recipient(id: 1, isBroadcast: true)])
    machine.markLoading(1, a, missed: 9)
    #expect(machine.arrived(try message(10)).isEmpty)
    #expect(machine.loaded(1, a, topics: ["news": 3], upTo: 9) == false)
    #expect(machine.loaded(1, a, topics: ["news": 3], upTo: 10) == true)
  }

  // MARK: Connections

  @Test func `a later connection of a registration replaces the earlier one, whose reports are ignored`() throws {
    var machine = settledMachine()
    #expect(machine.connected(2, a, platform: "linux", startNumber: 9) == .opened(earlier: 1))
    #expect(machine.arrived(try message(8)).isEmpty, "it is loading, and its topics are not known")
    #expect(machine.loaded(1, a, topics: ["news": 0], upTo: 8) == true, "the earlier one has nothing to read")
    machine.markLoading(1, a, missed: 8)
    #expect(machine.ended(1, a) == false)
    #expect(machine.connection(of: a) == 2)
    #expect(machine.count == 1)
    #expect(machine.loaded(2, a, topics: [:], upTo: 7) == false)
    #expect(machine.loaded(2, a, topics: [:], upTo: 8) == true)
  }

  @Test func `with the last connection dispatching ends, and nothing waits`() throws {
    var machine = settledMachine()
    _ = machine.connected(2, b, platform: "linux", startNumber: 7)
    #expect(machine.isAwaited(20) == true)
    #expect(machine.ended(1, a) == false)
    #expect(machine.position == 7)
    #expect(machine.ended(2, b) == true)
    #expect(machine.position == nil && machine.isDispatched(20))
    #expect(machine.beginRound() == false)
    #expect(machine.ended(2, b) == false, "once")
    machine.started(after: 30)
    #expect(machine.position == nil, "nobody is there")
  }

  @Test func `a closed machine takes no connection`() {
    var machine = settledMachine()
    machine.close()
    #expect(machine.connected(2, b, platform: "linux", startNumber: 7) == .refused)
    #expect(machine.count == 0 && machine.position == nil)
  }

  // MARK: Audiences

  @Test func `a message of a topic is for the connections that had the topic before it`() throws {
    var machine = settledMachine(topics: ["news": 8])
    #expect(machine.arrived(try message(8)).isEmpty, "the subscription is the message 8 itself")
    #expect(ids(machine.arrived(try message(9))) == [1])
    let other = try Self.message(10, to: .topic("sports"))
    #expect(machine.arrived(other).isEmpty)
    #expect(machine.position == 10)
  }

  @Test func `a topic that was left is no longer one of the connection`() throws {
    var machine = settledMachine()
    machine.markLoading(1, a, missed: 0)
    #expect(machine.loaded(1, a, topics: [:], upTo: 7) == true)
    #expect(machine.arrived(try message(8)).isEmpty)
  }

  @Test func `a condition looks at the topics from before the message`() throws {
    let condition = PushMessage.Target.condition("'news' in topics && !('sports' in topics)")
    var machine = settledMachine(topics: ["news": 0, "sports": 9])
    #expect(ids(machine.arrived(try Self.message(8, to: condition))) == [1])
    #expect(machine.arrived(try Self.message(10, to: condition)).isEmpty)
  }

  @Test func `a direct message is for its registration`() throws {
    var machine = settledMachine()
    let direct = try Self.message(8, to: .token("t"), for: a)
    #expect(machine.arrived(direct) == [DispatchMachine.Recipient(id: 1, isBroadcast: false)])
    #expect(machine.arrived(try Self.message(9, to: .token("t"), for: b)).isEmpty)
    machine.markLoading(1, a, missed: 0)
    #expect(machine.arrived(try Self.message(10, to: .token("t"), for: a)).isEmpty)
    #expect(machine.loaded(1, a, topics: [:], upTo: 9) == false)
  }

  // MARK: Immediate messages

  @Test func `immediate messages that were missed are kept, the newest ones, and taken once`() throws {
    var machine = settledMachine()
    machine.markLoading(1, a, missed: 0)
    for number in 8...10 as ClosedRange<Int64> {
      #expect(machine.arrived(try message(number, isInstant: true)).isEmpty)
    }
    _ = machine.arrived(try message(11))
    #expect(machine.takeInstants(1, of: a, upTo: 9).map(\.number) == [9])
    let last = machine.takeInstants(1, of: a, upTo: 20)
    #expect(last.map(\.number) == [10])
    #expect(machine.takeInstants(1, of: a, upTo: 20).isEmpty)
    machine.returnInstants(1, of: a, last)
    #expect(machine.takeInstants(1, of: a, upTo: 20).map(\.number) == [10])
    #expect(machine.takeInstants(9, of: a, upTo: 20).isEmpty, "of another connection")
  }

  // MARK: Rounds

  @Test func `one round dispatches at a time, and is repeated when asked for in between`() {
    var machine = DispatchMachine(maximumInstants: 1)
    #expect(machine.beginRound() == false, "there is no connection")
    machine = settledMachine()
    #expect(machine.beginRound() == true)
    #expect(machine.beginRound() == false)
    #expect(machine.endRound() == false)
    #expect(machine.endRound() == true)
    #expect(machine.beginRound() == true)
  }

  @Test func `a load waits for the dispatch of what it has read`() {
    var machine = settledMachine()
    #expect(machine.isAwaited(9) == true)
    #expect(machine.isAwaited(8) == true)
    #expect(machine.awaited == 9)
    machine.advance(to: 8)
    #expect(!machine.isDispatched(9))
    machine.advance(to: 9)
    #expect(machine.isAwaited(9) == false)
    machine.advance(to: 4)
    #expect(machine.position == 9, "the position does not move back")
  }

  // MARK: Any order of events

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `in any order of events each message reaches each connection once`(seed: UInt64) throws {
    var walk = Walk(seed: seed)
    for _ in 0..<250 { try walk.step() }
    try walk.finish()
  }

  /// A store with messages, a dispatcher, and connections that read.
  private struct Walk {
    private struct Reader {
      let id: Int
      let key: RegistrationKey
      let start: Int64
      /// Up to which message it has read.
      var position: Int64
      var isLoading = true
      var received: [Int64] = []
    }

    private static let keys = ["a", "b", "c"].map(DispatchMachineTests.key)

    private var machine = DispatchMachine(maximumInstants: 1_000)
    private var random: SplitMix
    private var messages: [DispatchedMessage] = []
    private var readers: [RegistrationKey: Reader] = [:]
    private var lastID = 0

    private var last: Int64 { Int64(messages.count) }

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    mutating func step() throws {
      let key = Self.keys.randomElement(using: &random) ?? Self.keys[0]
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1, 2:
        let isInstant = Int.random(in: 0..<4, using: &random) == 0
        let isDirect = Bool.random(using: &random)
        messages.append(
          try DispatchMachineTests.message(
            last + 1, to: isDirect ? .token("t") : .topic("news"), for: isDirect ? key : nil, isInstant: isInstant))
      case 3, 4: dispatch()
      case 5: connect(key)
      case 6:
        if let reader = readers[key], Int.random(in: 0..<4, using: &random) == 0 {
          #expect(machine.ended(reader.id, key) == (readers.count == 1))
          readers[key] = nil
        }
      case 7: if let reader = readers[key] { markLoading(reader) }
      default: read(key)
      }
      #expect(machine.count == readers.count)
    }

    mutating func finish() throws {
      for key in Self.keys { connect(key) }
      dispatch()
      for key in Self.keys { read(key) }
      for reader in readers.values {
        #expect(!reader.isLoading)
        #expect(Set(reader.received).count == reader.received.count, "once")
        let wanted = messages.filter { isFor(reader, $0) && (!$0.isInstant(on: "linux") || $0.number > reader.start) }
        #expect(Set(reader.received) == Set(wanted.map(\.number)))
      }
    }

    private func isFor(_ reader: Reader, _ message: DispatchedMessage) -> Bool {
      if case .registration(let key) = message.audience { key == reader.key } else { true }
    }

    private mutating func connect(_ key: RegistrationKey) {
      lastID += 1
      let earlier = readers[key]?.id
      #expect(machine.connected(lastID, key, platform: "linux", startNumber: last) == .opened(earlier: earlier))
      machine.started(after: last)
      readers[key] = Reader(id: lastID, key: key, start: last, position: 0)
    }

    private mutating func markLoading(_ reader: Reader) {
      machine.markLoading(reader.id, reader.key, missed: 0)
      readers[reader.key]?.isLoading = true
    }

    private mutating func dispatch() {
      guard machine.beginRound() else { return }
      while let position = machine.position, position < last {
        let message = messages[Int(position)]
        for recipient in machine.arrived(message) {
          guard let reader = readers.values.first(where: { $0.id == recipient.id }) else {
            Issue.record("A message for a connection that has ended.")
            continue
          }
          #expect(!reader.isLoading && isFor(reader, message))
          let isNew = message.number > reader.position
          if isNew || message.isInstant(on: "linux") && message.number > reader.start {
            readers[reader.key]?.received.append(message.number)
          }
        }
      }
      #expect(machine.endRound() == true)
    }

    /// Reads until nothing is missed, as the engine does.
    private mutating func read(_ key: RegistrationKey) {
      guard let reader = readers[key], reader.isLoading else { return }
      repeat {
        let found = last
        if machine.isAwaited(found) { dispatch() }
        #expect(machine.isDispatched(found))
        let known = Set(readers[key]?.received ?? [])
        let waiting = messages.filter { message in
          message.number <= found && isFor(reader, message) && !message.isInstant(on: "linux")
            && !known.contains(message.number)
        }
        let instants = machine.takeInstants(reader.id, of: key, upTo: found).filter { isFor(reader, $0) }
        readers[key]?.received += (waiting + instants).map(\.number)
        readers[key]?.position = found
      } while !machine.loaded(reader.id, key, topics: ["news": -1], upTo: last)
      readers[key]?.isLoading = false
    }
  }
}
