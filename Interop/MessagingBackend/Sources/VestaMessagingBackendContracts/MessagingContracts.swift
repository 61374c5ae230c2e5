import VestaBytes
import VestaConcurrency
public import VestaMessagingBackend
import VestaServiceInterop
public import VestaTesting

/// A messaging service that is held to its contract, without registrations at first.
public struct MessagingSubject: Sendable {
  /// The service as installations see it.
  public let backend: any MessagingBackend

  /// The same service as the owner sees it.
  public let admin: any MessagingAdminBackend

  /// The longest time a check waits for a message.
  public let patience: Duration

  /// A service.
  public init(_ service: any MessagingBackend & MessagingAdminBackend, patience: Duration = .seconds(30)) {
    self.init(backend: service, admin: service, patience: patience)
  }

  /// The two sides of one service.
  public init(
    backend: any MessagingBackend, admin: any MessagingAdminBackend, patience: Duration = .seconds(30)
  ) {
    self.backend = backend
    self.admin = admin
    self.patience = patience
  }
}

// Helpers of all checks.
extension MessagingSubject {
  func register(_ id: String = "installation", currentToken: String? = nil) async throws -> String {
    let request = RegisterRequest(installationID: id, platform: "linux", appID: "app", currentToken: currentToken)
    return try await backend.register(request, context: CallContext())
  }

  @discardableResult
  func send(
    to target: PushMessage.Target, _ text: String, collapseKey: String? = nil, isHigh: Bool = false, ttl: String? = nil
  ) async throws -> String {
    var message = PushMessage(to: target, data: ["text": text])
    if collapseKey != nil || isHigh || ttl != nil {
      message.android = ["priority": .string(isHigh ? "HIGH" : "NORMAL")]
      message.android?["collapse_key"] = collapseKey.map { .string($0) }
      message.android?["ttl"] = ttl.map { .string($0) }
    }
    return try await admin.send(message, isValidateOnly: false, context: .owner)
  }

  func subscribe(_ token: String, _ topic: String) async throws {
    try await backend.subscribe(token: token, toTopic: topic, context: CallContext())
  }

  func acknowledge(_ token: String, _ inbox: Inbox) async throws {
    let ids = inbox.log.events.map(\.messageID)
    try await backend.acknowledge(token: token, messageIDs: ids, context: CallContext())
  }
}

/// The deliveries of one connection.
final class Inbox: Sendable {
  let log: EventLog<PushDelivery>
  let ends: EventLog<String>
  private let registration = Locked<ListenerRegistration?>(nil)

  /// Connects.
  ///
  /// - Parameter body: Called with each delivery, before it is logged.
  init(_ subject: MessagingSubject, _ token: String, _ body: @escaping @Sendable (PushDelivery) -> Void = { _ in }) {
    let (log, ends) = (
      EventLog<PushDelivery>(patience: subject.patience), EventLog<String>(patience: subject.patience)
    )
    (self.log, self.ends) = (log, ends)
    let connection = subject.backend.connect(token: token, context: CallContext()) {
      ends.record($0.map(\.code.name) ?? "in order")
    } _: {
      body($0)
      log.record($0)
    }
    registration.withLock { $0 = connection }
  }

  var texts: [String] { log.events.compactMap { $0.message.data["text"] } }

  func wait(for texts: [String]) async throws {
    try await log.wait(for: "the messages \(texts)") { $0.compactMap { $0.message.data["text"] } == texts }
  }

  func close() { registration.withLock { $0.take() }?.cancel() }
}

/// The promises of `MessagingBackend` and `MessagingAdminBackend` as checks.
public enum MessagingContracts {
  /// All promises.
  public static let all: [Contract<MessagingSubject>] = registrations + deliveries + topics + refusals

  private static let registrations: [Contract<MessagingSubject>] = [
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      let token = try await subject.register()
      let request = RegisterRequest(installationID: "other", platform: "linux", appID: "app")
      let refused = try await expectThrows(MessagingServiceError.self, "a registration") {
        try await subject.backend.register(request, context: forged)
      }
      try expect(refused.code, equals: .unauthenticated, "the code of a registration")
      let unsent = try await expectThrows(MessagingServiceError.self, "a message") {
        try await subject.admin.send(PushMessage(to: .token(token)), isValidateOnly: false, context: forged)
      }
      try expect(unsent.code, equals: .unauthenticated, "the code of a message")
      let ends = EventLog<String>(patience: subject.patience)
      let connection = subject.backend.connect(token: token, context: forged) {
        ends.record($0.map(\.code.name) ?? "in order")
      } _: { _ in
      }
      defer { connection.cancel() }
      try await ends.wait(for: "the end of the connection") { $0 == [ServiceCode.unauthenticated.name] }
    },
    Contract("a registration keeps its token, and only for those who know it") { subject in
      let token = try await subject.register()
      try expect(try await subject.register(currentToken: token), equals: token, "the token of the second registration")
      let other = try await subject.register()
      try expect(other != token, "somebody else has got the token")
      let error = try await expectThrows(MessagingServiceError.self, "a send to the replaced token") {
        try await subject.send(to: .token(token), "a")
      }
      try expect(error.reason, equals: .unregistered, "the reason")
    },
    Contract("the owner, and nobody else, finds the token of an installation") { subject in
      let token = try await subject.register("ada")
      let found = try await subject.admin.token(ofInstallation: "ada", context: .owner)
      try expect(found, equals: token, "the token")
      let unknown = try await expectThrows(MessagingServiceError.self, "an unknown installation") {
        try await subject.admin.token(ofInstallation: "bob", context: .owner)
      }
      try expect(unknown.code, equals: .notFound, "the code for an unknown one")
      let refused = try await expectThrows(MessagingServiceError.self, "a call of somebody else") {
        try await subject.admin.token(ofInstallation: "ada", context: CallContext())
      }
      try expect(refused.code, equals: .permissionDenied, "the code for somebody else")
    },
    Contract("an installation that was unregistered receives nothing and can be registered again") { subject in
      let token = try await subject.register()
      try await subject.send(to: .token(token), "lost")
      try await subject.backend.unregister(token: token, context: CallContext())
      try await subject.backend.unregister(token: token, context: CallContext())
      let error = try await expectThrows(MessagingServiceError.self, "a send") {
        try await subject.send(to: .token(token), "a")
      }
      try expect(error.reason, equals: .unregistered, "the reason")
      let again = try await subject.register()
      let inbox = Inbox(subject, again)
      try await subject.send(to: .token(again), "b")
      try await inbox.wait(for: ["b"])
      inbox.close()
    },
  ]

  private static let deliveries: [Contract<MessagingSubject>] = [
    Contract("a connected registration receives messages at once and in order") { subject in
      let token = try await subject.register()
      let inbox = Inbox(subject, token)
      for number in 1...20 { try await subject.send(to: .token(token), "\(number)") }
      try await inbox.wait(for: (1...20).map { "\($0)" })
      inbox.close()
    },
    Contract("messages wait for a registration that is away") { subject in
      let token = try await subject.register()
      for number in 1...5 { try await subject.send(to: .token(token), "\(number)") }
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["1", "2", "3", "4", "5"])
      inbox.close()
    },
    Contract("unacknowledged messages come again with the same id, acknowledged ones do not") { subject in
      let token = try await subject.register()
      try await subject.subscribe(token, "news")
      try await subject.send(to: .token(token), "a")
      try await subject.send(to: .topic("news"), "b")
      let first = Inbox(subject, token)
      try await first.wait(for: ["a", "b"])
      first.close()
      let second = Inbox(subject, token)
      try await second.wait(for: ["a", "b"])
      try expect(second.log.events.map(\.messageID), equals: first.log.events.map(\.messageID), "the ids")
      try await subject.acknowledge(token, second)
      second.close()
      try await subject.send(to: .token(token), "c")
      let third = Inbox(subject, token)
      try await third.wait(for: ["c"])
      third.close()
    },
    Contract("of waiting messages those of high priority come first") { subject in
      let token = try await subject.register()
      try await subject.send(to: .token(token), "normal")
      try await subject.send(to: .token(token), "high", isHigh: true)
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["high", "normal"])
      inbox.close()
    },
    Contract("of waiting messages with one collapse key the last one is delivered") { subject in
      let token = try await subject.register()
      for text in ["1", "2", "3"] { try await subject.send(to: .token(token), text, collapseKey: "score") }
      try await subject.send(to: .token(token), "other", collapseKey: "mail")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["3", "other"])
      inbox.close()
    },
    Contract("an immediate message (time to live 0) does not wait") { subject in
      let token = try await subject.register()
      try await subject.send(to: .token(token), "never", ttl: "0s")
      try await subject.send(to: .token(token), "later")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["later"])
      inbox.close()
    },
    Contract("messages to a topic wait by the same rules: high priority first, the last one of a collapse key") {
      subject in
      let token = try await subject.register()
      try await subject.subscribe(token, "news")
      try await subject.send(to: .topic("news"), "score 1", collapseKey: "score")
      try await subject.send(to: .topic("news"), "normal")
      try await subject.send(to: .topic("news"), "high", isHigh: true)
      try await subject.send(to: .topic("news"), "score 2", collapseKey: "score")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["high", "normal", "score 2"])
      inbox.close()
    },
    Contract("an immediate message (time to live 0) reaches a connection, though others wait for acknowledgements") {
      subject in
      let token = try await subject.register()
      for number in 1...250 { try await subject.send(to: .token(token), "\(number)") }
      let inbox = Inbox(subject, token)
      try await inbox.log.wait(for: "a message") { !$0.isEmpty }
      try await subject.send(to: .token(token), "now", ttl: "0s")
      while !inbox.texts.contains("now"), inbox.texts.count < 251 {
        let count = inbox.texts.count
        try await subject.acknowledge(token, inbox)
        try await inbox.log.wait(for: "more messages") { $0.count > count || $0.count >= 251 }
      }
      try expect(inbox.texts.filter { $0 == "now" }.count, equals: 1, "the immediate messages")
      inbox.close()
    },
    Contract("a receiver that blocks delays nobody else") { subject in
      let (slow, quick) = (try await subject.register("slow"), try await subject.register("quick"))
      let gate = Gate()
      let patience = subject.patience
      let calls = EventLog<Void>(patience: patience)
      let blocked = Inbox(subject, slow) { delivery in
        if delivery.message.data["text"] == "begin" { return }
        calls.record(())
        _ = gate.passes(within: patience)
      }
      let inbox = Inbox(subject, quick)
      try await subject.send(to: .token(slow), "begin")
      try await blocked.wait(for: ["begin"])
      try await subject.send(to: .token(slow), "0")
      try await calls.wait(for: "the call that blocks") { !$0.isEmpty }
      for number in 1...5 {
        try await subject.send(to: .token(slow), "\(number)")
        try await subject.send(to: .token(quick), "\(number)")
      }
      try await inbox.wait(for: ["1", "2", "3", "4", "5"])
      let isBlocked = blocked.texts == ["begin"]
      gate.open()
      try expect(isBlocked, "the receiver that blocks was called again")
      try await blocked.wait(for: ["begin", "0", "1", "2", "3", "4", "5"])
      blocked.close()
      inbox.close()
    },
    Contract("many receivers that block, more than there are cores, delay nobody else") { subject in
      let (gate, patience) = (Gate(), subject.patience)
      let calls = EventLog<Void>(patience: patience)
      var blocked: [Inbox] = []
      for number in 0..<24 {
        let token = try await subject.register("slow\(number)")
        try await subject.subscribe(token, "all")
        blocked.append(
          Inbox(subject, token) { _ in
            calls.record(())
            _ = gate.passes(within: patience)
          })
        try await subject.send(to: .token(token), "\(number)")
      }
      try await calls.wait(for: "the calls that block") { $0.count == 24 }
      let quick = try await subject.register("quick")
      let inbox = Inbox(subject, quick)
      try await subject.send(to: .token(quick), "now")
      try await inbox.wait(for: ["now"])
      gate.open()
      for (number, inbox) in blocked.enumerated() {
        try await inbox.wait(for: ["\(number)"])
        inbox.close()
      }
      inbox.close()
    },
    Contract("a message to a topic is for who is subscribed when it is sent, also when the topic is left") { subject in
      let token = try await subject.register()
      try await subject.subscribe(token, "news")
      try await subject.send(to: .topic("news"), "a")
      try await subject.backend.unsubscribe(token: token, fromTopic: "news", context: CallContext())
      try await subject.send(to: .topic("news"), "b")
      try await subject.subscribe(token, "news")
      try await subject.send(to: .topic("news"), "c")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["a", "c"])
      inbox.close()
    },
    Contract("a connection ends with its registration") { subject in
      for isReplaced in [true, false] {
        let token = try await subject.register()
        let inbox = Inbox(subject, token)
        // A message that the replaced registration did not acknowledge arrives again before it.
        let text = isReplaced ? "a" : "b"
        try await subject.send(to: .token(token), text)
        try await inbox.log.wait(for: "the message \(text)") { $0.last?.message.data["text"] == text }
        if isReplaced {
          _ = try await subject.register()
        } else {
          try await subject.backend.unregister(token: token, context: CallContext())
        }
        try await inbox.ends.wait(for: "the end") { $0 == ["NOT_FOUND"] }
      }
    },
    Contract("a second connection ends the first one") { subject in
      let token = try await subject.register()
      let first = Inbox(subject, token)
      try await subject.send(to: .token(token), "a")
      try await first.wait(for: ["a"])
      let second = Inbox(subject, token)
      try await first.ends.wait(for: "the end") { $0 == ["ABORTED"] }
      try await second.wait(for: ["a"])
      second.close()
    },
    Contract("more messages than a connection may have unacknowledged arrive all the same") { subject in
      let token = try await subject.register()
      for number in 1...250 { try await subject.send(to: .token(token), "\(number)") }
      let inbox = Inbox(subject, token)
      // As many rounds as it takes: a slow machine receives one message at a time.
      var heard = 0
      while heard < 250 {
        let count = heard
        try await inbox.log.wait(for: "more than \(count) messages") { Set($0.map(\.messageID)).count > count }
        heard = Set(inbox.log.events.map(\.messageID)).count
        try await subject.acknowledge(token, inbox)
      }
      inbox.close()
    },
  ]

  private static let topics: [Contract<MessagingSubject>] = [
    Contract("a topic reaches its subscribers, from their subscription on") { subject in
      let (one, two) = (try await subject.register("one"), try await subject.register("two"))
      try await subject.send(to: .topic("news"), "early")
      try await subject.subscribe(one, "news")
      let (first, second) = (Inbox(subject, one), Inbox(subject, two))
      try await subject.send(to: .topic("news"), "a")
      try await first.wait(for: ["a"])
      try await subject.subscribe(two, "news")
      try await subject.send(to: .topic("news"), "b")
      try await first.wait(for: ["a", "b"])
      try await second.wait(for: ["b"])
      try await subject.backend.unsubscribe(token: one, fromTopic: "news", context: CallContext())
      try await subject.send(to: .topic("news"), "c")
      try await second.wait(for: ["b", "c"])
      try await subject.send(to: .token(one), "end")
      try await first.wait(for: ["a", "b", "end"])
      first.close()
      second.close()
    },
    Contract("a condition reaches those whose topics fulfil it") { subject in
      var inboxes: [Inbox] = []
      for (name, topics) in [("a", ["a"]), ("ab", ["a", "b"]), ("c", ["c"]), ("bc", ["b", "c"]), ("none", [])] {
        let token = try await subject.register(name)
        for topic in topics { try await subject.subscribe(token, topic) }
        inboxes.append(Inbox(subject, token))
        try await subject.send(to: .token(token), "begin")
        try await inboxes[inboxes.count - 1].wait(for: ["begin"])
      }
      // From left to right: `bc` fulfils the first test and not the last one.
      try await subject.send(to: .condition("'c' in topics || 'a' in topics && !('b' in topics)"), "hit")
      for name in ["a", "ab", "c", "bc", "none"] { try await subject.send(to: .installation(name), "end") }
      for (inbox, isHit) in zip(inboxes, [true, false, true, false, false]) {
        try await inbox.wait(for: isHit ? ["begin", "hit", "end"] : ["begin", "end"])
        inbox.close()
      }
    },
    Contract("the owner subscribes many registrations, and gets those that do not exist") { subject in
      let token = try await subject.register()
      let outcomes = try await subject.admin.subscribe(
        tokens: [token, "gone:\(String(repeating: "a", count: 30))"], toTopic: "/topics/news", context: .owner)
      try expect(outcomes.map { $0?.reason }, equals: [nil, .unregistered], "the outcomes")
      let info = try await subject.admin.registration(token: token, context: .owner)
      try expect(info.topics, equals: ["news"], "the topics")
    },
  ]

  private static let refusals: [Contract<MessagingSubject>] = [
    Contract("a wrong message is refused with the field that is wrong") { subject in
      let token = try await subject.register()
      var message = PushMessage(to: .token(token), data: ["google.a": "b"])
      let reserved = try await expectThrows(MessagingServiceError.self, "a reserved key") {
        try await subject.admin.send(message, isValidateOnly: false, context: .owner)
      }
      try expect(reserved.field, equals: "message.data.google.a", "the field")
      message.data = ["a": String(repeating: "b", count: 5000)]
      let big = try await expectThrows(MessagingServiceError.self, "a message that is too big") {
        try await subject.admin.send(message, isValidateOnly: false, context: .owner)
      }
      try expect(big.code, equals: .invalidArgument, "the code")
    },
    Contract("what is nested too deeply to be read again is refused, and stops nothing") { subject in
      let token = try await subject.register()
      var message = PushMessage(to: .token(token), data: ["text": "deep"])
      let deep = (0..<100).reduce(JSONValue.string("x")) { value, _ in .array([value]) }
      message.apns = ["payload": .object(["aps": [:], "a": deep])]
      let error = try await expectThrows(MessagingServiceError.self, "a deep message") {
        try await subject.admin.send(message, isValidateOnly: false, context: .owner)
      }
      try expect(error.code, equals: .invalidArgument, "the code")
      try await subject.send(to: .token(token), "a")
      let inbox = Inbox(subject, token)
      try await inbox.wait(for: ["a"])
      inbox.close()
    },
    Contract("of several messages each is accepted or refused by itself") { subject in
      let token = try await subject.register()
      let inbox = Inbox(subject, token)
      let messages = [PushMessage.Target.token(token), .token("wrong"), .token(token)].map {
        PushMessage(to: $0, data: ["text": "x"])
      }
      let outcomes = try await subject.admin.sendEach(messages, isValidateOnly: false, context: .owner)
      let isAccepted = outcomes.map { outcome in if case .success = outcome { true } else { false } }
      try expect(isAccepted, equals: [true, false, true], "the outcomes")
      try await inbox.wait(for: ["x", "x"])
      inbox.close()
    },
    Contract("only the owner sends") { subject in
      let token = try await subject.register()
      let error = try await expectThrows(MessagingServiceError.self, "a send in nobody's name") {
        try await subject.admin.send(
          PushMessage(to: .token(token), data: ["a": "b"]), isValidateOnly: false, context: CallContext())
      }
      try expect(error.code, equals: .permissionDenied, "the code")
    },
    Contract("a connection of a token that is not registered ends with that reason") { subject in
      let inbox = Inbox(subject, "gone:\(String(repeating: "a", count: 30))")
      try await inbox.ends.wait(for: "the end") { $0 == ["NOT_FOUND"] }
      // A connection that is dropped gets no end.
      withExtendedLifetime(inbox) {}
    },
  ]
}
