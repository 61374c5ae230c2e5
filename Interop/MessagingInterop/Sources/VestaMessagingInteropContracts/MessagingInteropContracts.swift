import VestaConcurrency
import VestaMessagingInterop
public import VestaTesting

/// The promises of `MessagingInterop` as checks.
///
/// ```swift
/// for outcome in await MessagingInteropContracts.all.run(against: { try await makeSubject() }) { print(outcome) }
/// ```
public enum MessagingInteropContracts {
  /// All promises, including the listeners'.
  public static let all: [Contract<MessagingInteropSubject>] = tokens + listeners

  private static let tokens: [Contract<MessagingInteropSubject>] = [
    Contract("without a registration there is no token") { subject in
      try expect(subject.messaging.fcmToken == nil, "there is a token")
    },
    Contract("a registered installation has a token that stays the same") { subject in
      try await subject.renewToken()
      let token = try subject.token()
      try expect(!token.isEmpty, "the token is empty")
      for _ in 1...3 { try expect(subject.messaging.fcmToken == token, "the token is another one") }
    },
    Contract("a renewed token replaces the old one") { subject in
      try await subject.renewToken()
      let old = try subject.token()
      try await subject.renewToken()
      try expect(try subject.token() != old, "the token is still the old one")
    },
    Contract("a deleted token is gone and that is heard") { subject in
      try await subject.renewToken()
      let token = try subject.token()
      let log = EventLog<String?>(patience: subject.patience)
      log.keep(subject.messaging.addFCMTokenListener { log.record($0) })
      try await subject.deleteToken()
      try expect(subject.messaging.fcmToken == nil, "there still is a token")
      try await log.wait(for: "the end of the token") { $0.suffix(2) == [token, nil] }
      log.cancel()
    },
    Contract("a token that is heard of is there") { subject in
      let log = EventLog<Bool>(patience: subject.patience)
      let messaging = subject.messaging
      log.keep(messaging.addFCMTokenListener { if $0 != nil { log.record(messaging.fcmToken != nil) } })
      for _ in 1...4 { try await subject.renewToken() }
      try await log.wait(for: "four tokens") { $0.count >= 4 }
      log.cancel()
      try expect(!log.events.contains(false), "a listener heard of a token while fcmToken was nil")
    },
    Contract("64 tasks that ask at once get one and the same token") { subject in
      for _ in 1...3 { try await subject.renewToken() }
      let token = try subject.token()
      let found = await withTaskGroup(of: String?.self) { group in
        for _ in 1...64 { group.addTask { subject.messaging.fcmToken } }
        return await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      try expect(found == [token], "\(found.count) different tokens were given")
    },
  ]

  private static let listeners: [Contract<MessagingInteropSubject>] = ListenerContracts.all(greets: true) { subject in
    ListenerSubject(
      patience: subject.patience,
      add: { subject.messaging.addFCMTokenListener($0) },
      greeting: { subject.messaging.fcmToken },
      callBack: { _ = subject.messaging.fcmToken },
      change: { _ in
        try await subject.renewToken()
        return subject.messaging.fcmToken
      }
    )
  }
}

extension MessagingInteropSubject {
  /// The token, which must be there.
  func token() throws -> String { try expectValue(messaging.fcmToken, "the token of a registered installation") }
}
