import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaMessagingService

extension MessagingEngine {
  /// Takes the place of the dispatcher: nothing is dispatched until ``dispatchAgain()``.
  fileprivate func holdDispatching() async { while !table.beginDispatch() { await Task.yield() } }

  fileprivate func dispatchAgain() {
    while !table.endDispatch() {}
    startDispatching()
  }

  /// Has a connection read what waits for it.
  fileprivate func readAgain(_ key: RegistrationKey) throws -> Task<Void, Never> {
    let session = try #require(table.session(key))
    table.markLoading(session, missed: 0)
    return Task { await deliverWaiting(to: session) }
  }
}

/// A transport to a service that is busy all the time.
private final class BusyTransport: PushTransport {
  let platforms: Set<String> = ["android"]
  let texts = Log<String>()

  func push(_ delivery: PushDelivery, to address: PushAddress) async throws(MessagingServiceError) {
    texts.add(delivery.message.data["text"] ?? "")
    throw MessagingServiceError(.unavailable, reason: .unavailable, "busy")
  }
}

/// Messages with time to live 0, which no connection finds in the store.
@Suite struct ImmediateMessageTests {
  @Test func `nothing that was sent after an immediate message arrives before it`() async throws {
    let engine = makeEngine()
    let token = try await engine.register()
    let (log, connection) = engine.inbox(token)
    try await engine.send("first", to: .token(token))
    try await log.wait(forTexts: ["first"])
    // The test is the dispatcher for a while, and has not reached the new messages when the connection reads again.
    await engine.holdDispatching()
    try await engine.send("immediate", to: .token(token), ttl: "0s")
    try await engine.send("second", to: .token(token))
    let reading = try engine.readAgain(RegistrationKey(installationID: "one", senderID: "1"))
    while engine.table.waitingCount == 0, log.events.count == 1 { await Task.yield() }
    engine.dispatchAgain()
    await reading.value
    try await log.wait(forTexts: ["first", "immediate", "second"])
    connection.cancel()
  }

  @Test func `a connection does not wait for messages that were removed before they were dispatched`() async throws {
    let store = ModelStore()
    let engine = makeEngine(store)
    let token = try await engine.register()
    let (log, connection) = engine.inbox(token)
    try await engine.send("first", to: .token(token))
    try await log.wait(forTexts: ["first"])
    await engine.holdDispatching()
    for text in ["second", "removed"] { try await engine.send(text, to: .token(token)) }
    _ = try await store.write { transaction in
      let reader = MessagingReader(reader: transaction)
      try await transaction.delete(Keys.message(try await reader.lastNumber()))
    }
    let reading = try engine.readAgain(RegistrationKey(installationID: "one", senderID: "1"))
    while engine.table.waitingCount == 0, log.events.count == 1 { await Task.yield() }
    engine.dispatchAgain()
    await reading.value
    try await log.wait(forTexts: ["first", "second"])
    connection.cancel()
  }

  @Test func `room that is made while a connection reads is used, also when immediate messages wait`() async throws {
    let options = MessagingServiceOptions(deliveryWindow: 3)
    let engine = MessagingEngine(projectID: "p", senderID: "1", options: options) { ModelStore() }
    let token = try await engine.register()
    for number in 1...5 { try await engine.send("\(number)", to: .token(token)) }
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["1", "2", "3"])
    await engine.holdDispatching()
    try await engine.send("now", to: .token(token), ttl: "0s")
    let ids = log.events.map(\.messageID)
    // The first one makes room for one message, which is read; the second one arrives while that read runs.
    try await engine.acknowledge(token: token, messageIDs: [ids[0]], context: CallContext())
    while engine.table.waitingCount == 0 { await Task.yield() }
    try await engine.acknowledge(token: token, messageIDs: [ids[1]], context: CallContext())
    engine.dispatchAgain()
    try await log.wait(forTexts: ["1", "2", "3", "4", "5"])
    connection.cancel()
  }

  @Test func `an immediate message (time to live 0) arrives although a backlog is being read`() async throws {
    let engine = MessagingEngine(
      projectID: "p", senderID: "1", options: MessagingServiceOptions(deliveryWindow: 3)
    ) { ModelStore() }
    let token = try await engine.register()
    try await engine.subscribe(token: token, toTopic: "news", context: CallContext())
    for number in 1...5 { try await engine.send("\(number)", to: .token(token)) }
    let (log, connection) = engine.inbox(token)
    try await log.wait(forTexts: ["1", "2", "3"])
    try await engine.send("now", to: .token(token), ttl: "0s")
    try await engine.send("topic now", to: .topic("news"), ttl: "0s")
    try await engine.send("8", to: .token(token))
    // Acknowledgements make room; they are sent one by one so that each makes the service read again.
    let all = ["1", "2", "3", "4", "5", "now", "topic now", "8"]
    for done in all.indices {
      try await log.wait(for: "message \(done)") { $0.count > done }
      try await engine.acknowledge(token: token, messageIDs: [log.events[done].messageID], context: CallContext())
    }
    #expect(log.events.compactMap { $0.message.data["text"] } == all)
    connection.cancel()
  }

  @Test(.timeLimit(.minutes(20))) func `an immediate message is handed to a transport, once`() async throws {
    let (clock, transport) = (ManualClock(), BusyTransport())
    let engine = makeEngine(clock: clock, transports: [transport])
    let token = try await engine.register(address: "A", platform: "android")
    try await engine.send("now", to: .token(token), ttl: "0s")
    try await engine.send("next", to: .token(token))
    await transport.texts.wait { $0.contains("next") }
    while transport.texts.entries.count < 4 {
      clock.advance(by: .seconds(3_600))
      await Task.yield()
    }
    #expect(transport.texts.entries.filter { $0 == "now" } == ["now"])
    try await engine.close()
  }
}
