public import VestaBytes
public import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaServiceInterop
public import VestaTesting

/// An engine that verifies who calls, with a guard and a clock that the checks use.
///
/// The word `owner` is the token of an owner, and `genuine` is a token of App Check, which the engine enforces.
public struct DatabaseSessionSubject: Sendable {
  let make: @Sendable (any DatabaseGuard) throws -> any DatabaseBackend
  let issue: @Sendable (_ uid: String, _ claims: JSONObject) -> String
  let now: @Sendable () -> Int64
  let advance: @Sendable (Duration) async -> Void

  /// A subject.
  ///
  /// - Parameters:
  ///   - issue: Makes the token of a user; it is valid for an hour.
  ///   - now: The time of the engine, in microseconds since 1970.
  ///   - advance: Moves the clock of the engine; requests that are sent afterwards follow what that causes.
  ///   - make: Makes an engine with an empty database that asks a guard.
  public init(
    issue: @escaping @Sendable (_ uid: String, _ claims: JSONObject) -> String,
    now: @escaping @Sendable () -> Int64,
    advance: @escaping @Sendable (Duration) async -> Void,
    make: @escaping @Sendable (any DatabaseGuard) throws -> any DatabaseBackend
  ) {
    (self.issue, self.now, self.advance, self.make) = (issue, now, advance, make)
  }

  fileprivate func connect(_ gatekeeper: ManualDatabaseGuard) throws -> ContractClient {
    DatabaseSubject(try make(gatekeeper)).connect(CallContext(appCheck: .token("genuine")))
  }
}

/// The promises of connections about their callers: sign-ins, tokens that expire, and owners who act for others.
public enum DatabaseSessionContracts {
  /// All of them.
  public static let all: [Contract<DatabaseSessionSubject>] = [
    Contract("the reply of a sign-in has the variable of the rules, and the time at which the token expires") {
      subject in
      let client = try subject.connect(ManualDatabaseGuard())
      let reply = await client.call(.authenticate(token: subject.issue("ada", ["admin": true])))
      try expect(reply.status, equals: .ok, "the status")
      try expect(reply.auth?["uid"], equals: "ada", "the user")
      try expect(reply.auth?["token"]?.object?["admin"], equals: true, "a claim")
      try expect(reply.expires, equals: subject.now() / 1_000_000 + 3_600, "the end")
    },
    Contract("rules decide with the claims of the token, for reads and writes") { subject in
      let gatekeeper = ManualDatabaseGuard()
      let client = try subject.connect(gatekeeper)
      _ = await client.call(.authenticate(token: subject.issue("ada", ["role": "keeper"])))
      _ = await client.put("rooms/a", .int(1))
      _ = await client.get("rooms/a")
      let asked = gatekeeper.asked.entries
      try expect(asked.count >= 2, "the guard was asked \(asked.count) times")
      for question in asked { try expect(question.claims?["role"], equals: "keeper", "the claim of a question") }
    },
    Contract("a token that expires signs the connection out, and then ends the listens that are denied") { subject in
      let gatekeeper = ManualDatabaseGuard()
      let client = try subject.connect(gatekeeper)
      _ = await client.call(.authenticate(token: subject.issue("ada", [:])))
      gatekeeper.change {
        if case .read(let read) = $0.subject { read.path == "open" || $0.uid == "ada" } else { true }
      }
      for path in ["rooms", "open"] as [DatabasePath] {
        try expect(await client.call(.listen(DatabaseListen(path: path))).status, equals: .ok, "a listen")
      }
      await subject.advance(.seconds(3_599))
      try expect(await ends(client), equals: [], "the messages before the end of the token")
      await subject.advance(.seconds(1))
      try expect(await ends(client), equals: ["expired_token", "rooms"], "the messages at the end of the token")
      try expect(await client.call(.get("rooms", .all)).status, equals: .permissionDenied, "a read afterwards")
    },
    Contract("a token that is replaced in time ends nothing") { subject in
      let client = try subject.connect(ManualDatabaseGuard())
      _ = await client.call(.authenticate(token: subject.issue("ada", [:])))
      await subject.advance(.seconds(3_000))
      _ = await client.call(.authenticate(token: subject.issue("ada", [:])))
      await subject.advance(.seconds(1_000))
      try expect(await ends(client), equals: [], "the messages after the end of the first token")
      await subject.advance(.seconds(3_000))
      try expect(await ends(client), equals: ["expired_token"], "the messages after the end of the second token")
    },
    Contract("an owner acts with the variables of a user or of no user, and is not bound by rules otherwise") {
      subject in
      let overrides: [(DatabaseCredential.Override?, String?)] = [
        (nil, "not asked"), (.claims(["uid": "ada"]), "ada"), (.nobody, nil),
      ]
      for (override, uid) in overrides {
        let gatekeeper = ManualDatabaseGuard()
        let client = try subject.connect(gatekeeper)
        let credential = DatabaseCredential(token: "owner", isOwner: true, override: override)
        try expect(await client.call(.authenticate(credential)).status, equals: .ok, "the sign-in")
        _ = await client.get("rooms")
        let last = gatekeeper.asked.entries.last
        try expect(last == nil ? "not asked" : last?.uid, equals: uid, "the user of the rules")
      }
    },
    Contract("the variables of another user are for owners alone") { subject in
      let gatekeeper = ManualDatabaseGuard()
      let client = try subject.connect(gatekeeper)
      for override in [DatabaseCredential.Override.claims(["uid": "ada"]), .nobody] {
        let credential = DatabaseCredential(token: subject.issue("eve", [:]), override: override)
        try expect(await client.call(.authenticate(credential)).status, equals: .permissionDenied, "the sign-in")
      }
      _ = await client.get("rooms")
      try expect(gatekeeper.asked.entries.last?.uid != "ada", "a caller acts for another user")
    },
    Contract("a token of App Check that is not valid is refused, and the connection stays") { subject in
      let client = try subject.connect(ManualDatabaseGuard())
      for (token, status) in [("forged", DatabaseStatus.invalidToken), ("genuine", .ok), ("", .invalidToken)] {
        try expect(await client.call(.appCheck(token: token)).status, equals: status, "the status of '\(token)'")
      }
      try expect(await client.put("rooms/a", .int(1)).status, equals: .ok, "a write afterwards")
    },
  ]

  /// The messages about the end of the sign-in and of listens that precede the reply to a request, in order.
  private static func ends(_ client: ContractClient) async -> [String] {
    _ = await client.call(.stats([:]))
    return client.messages.compactMap { message in
      switch message {
      case .authRevoked(let status, _): status
      case .listenRevoked(let path, _): path.text
      default: nil
      }
    }
  }
}
