public import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaServiceInterop
public import VestaTesting

/// An engine under test that asks a guard.
public struct GuardedDatabaseSubject: Sendable {
  let make: @Sendable (any DatabaseGuard) -> any DatabaseBackend

  /// A subject.
  ///
  /// - Parameter make: Makes an engine with an empty database that asks a guard, and takes each token for the id of the
  ///   user whom it signs in.
  public init(_ make: @escaping @Sendable (any DatabaseGuard) -> any DatabaseBackend) { self.make = make }

  func connect(_ guardian: any DatabaseGuard) -> DatabaseSubject { DatabaseSubject(make(guardian)) }
}

/// The promises of an engine to its `DatabaseGuard`: it is asked for everything that leaves or changes data.
public enum DatabaseGuardContracts {
  /// All of them.
  public static let all: [Contract<GuardedDatabaseSubject>] = reads + writes + changes

  private static let seed = DatabasePathValue("rooms/hall", DatabaseNode(.string("here")))

  /// A database with a room, behind a guard that allows everything until it is changed.
  private static func prepared(
    _ subject: GuardedDatabaseSubject, looksAt places: [DatabasePath] = []
  ) async throws -> (guardian: ManualDatabaseGuard, client: ContractClient, database: DatabaseSubject) {
    let guardian = ManualDatabaseGuard(looksAt: places)
    let database = subject.connect(guardian)
    let client = database.connect()
    try expect(await client.put(seed.path, .string("here")).status, equals: .ok, "the first write")
    return (guardian, client, database)
  }

  private static func data(_ client: ContractClient) -> [DatabaseServerMessage] {
    client.messages.filter {
      switch $0 {
      case .data, .merge, .rangeMerge: true
      default: false
      }
    }
  }

  static let reads: [Contract<GuardedDatabaseSubject>] = [
    Contract("a get is asked about in the state that it reads, and is denied without data") { subject in
      let (guardian, client, _) = try await prepared(subject, looksAt: ["rooms/hall", "rooms"])
      guardian.change { _ in false }
      let reply = await client.call(.get("rooms/hall", .all))
      try expect(reply.status, equals: .permissionDenied, "the status")
      try expect(reply.node.isEmpty, "data of a read that was denied")
      let question = try expectValue(guardian.asked.entries.last, "the question")
      guard case .read(let read) = question.subject else { throw ContractViolation("the question is about a write") }
      try expect(read.path, equals: "rooms/hall", "the path")
      try expect(read.time > 0, "the time is missing")
      try expect(
        question.before, equals: [.leaf(.string("here"), priority: nil), .parent(priority: nil)], "the state")
    },
    Contract("a listen is asked about, and is denied without data") { subject in
      let (guardian, client, database) = try await prepared(subject)
      guardian.change { if case .read = $0.subject { false } else { true } }
      let spec = DatabaseQuerySpec(index: .key, limit: .init(2, .last))
      for listen in [DatabaseListen(path: "rooms"), DatabaseListen(path: "rooms", spec: spec, tag: 7)] {
        try expect(await client.call(.listen(listen)).status, equals: .permissionDenied, "the status of \(listen.spec)")
      }
      try expect(await database.connect().put("rooms/attic", .int(1)).status, equals: .ok, "a write that is allowed")
      _ = await client.put("rooms/cellar", .int(1))
      try expect(data(client).isEmpty, "data of a listen that was denied")
    },
    Contract("a guard that allows everything changes nothing") { subject in
      let (_, client, _) = try await prepared(subject)
      try expect(await client.get("rooms/hall").leaf, equals: .string("here"), "the value")
      try expect(await client.call(.listen(DatabaseListen(path: "rooms"))).status, equals: .ok, "the listen")
      try expect(await client.put("rooms/hall", .int(1), hash: "x").status, equals: .dataStale, "a hash")
    },
  ]

  static let writes: [Contract<GuardedDatabaseSubject>] = [
    Contract("a put is asked about with the state before and after, and changes nothing when it is denied") { subject in
      let (guardian, client, _) = try await prepared(subject, looksAt: ["rooms/hall", "rooms/attic", "rooms"])
      guardian.change { if case .write = $0.subject { false } else { true } }
      let reply = await client.put("rooms/attic", .timestamp)
      try expect(reply.status, equals: .permissionDenied, "the status")
      try expect(await client.get("rooms/attic").isEmpty, "a write that was denied was carried out")
      let question = try expectValue(
        guardian.asked.entries.last { if case .write = $0.subject { true } else { false } }, "the question")
      guard case .write(let write) = question.subject, let value = write.values.first else {
        throw ContractViolation("the question has no value")
      }
      try expect(value.path, equals: "rooms/attic", "the path")
      try expect((value.node.leaf?.number ?? 0) > 0, "a value of the server is not filled in")
      try expect(
        question.before, equals: [.leaf(.string("here"), priority: nil), .empty, .parent(priority: nil)], "before")
      try expect(
        question.after,
        equals: [.leaf(.string("here"), priority: nil), DatabaseGlance(value.node), .parent(priority: nil)], "after")
    },
    Contract("the deletion of the last child leaves nothing for the guard to see") { subject in
      let (guardian, client, _) = try await prepared(subject, looksAt: ["rooms", .root])
      guardian.change { if case .write = $0.subject { false } else { true } }
      _ = await client.call(.put("rooms/hall", .empty, hash: nil))
      let question = try expectValue(guardian.asked.entries.last, "the question")
      try expect(question.after, equals: [.empty, .empty], "the state after the deletion")
      try expect(!(await client.get("rooms/hall").isEmpty), "a deletion that was denied was carried out")
    },
    Contract("a merge is one question about all its places") { subject in
      let (guardian, client, _) = try await prepared(subject, looksAt: ["rooms/a", "rooms/b/c"])
      guardian.change { if case .write = $0.subject { false } else { true } }
      let values = [DatabasePathValue("a", DatabaseNode(.int(1))), DatabasePathValue("b/c", DatabaseNode(.int(2)))]
      try expect(await client.call(.merge("rooms", values)).status, equals: .permissionDenied, "the status")
      try expect(await client.get("rooms/a").isEmpty, "a part of a merge that was denied was carried out")
      let question = try expectValue(
        guardian.asked.entries.last { if case .write = $0.subject { true } else { false } }, "the question")
      guard case .write(let write) = question.subject else { throw ContractViolation("no write") }
      try expect(Set(write.values.map(\.path)), equals: ["rooms/a", "rooms/b/c"], "the places")
      try expect(
        question.after, equals: [.leaf(.int(1), priority: nil), .leaf(.int(2), priority: nil)], "the state after")
    },
    Contract("a write with a hash is asked about before the hash is looked at") { subject in
      let (guardian, client, _) = try await prepared(subject)
      guardian.change { _ in false }
      for hash in ["", "wrong"] {
        try expect(
          await client.put("rooms/hall", .int(1), hash: hash).status, equals: .permissionDenied, "the status")
      }
    },
    Contract("operations for the end of a connection are asked about when they are sent") { subject in
      let (guardian, client, database) = try await prepared(subject)
      guardian.change { if case .write = $0.subject { false } else { true } }
      let put = DatabaseRequest.onDisconnectPut("rooms/a", DatabaseNode(.int(1)))
      let merge = DatabaseRequest.onDisconnectMerge("rooms", [DatabasePathValue("b", DatabaseNode(.int(1)))])
      for request in [put, merge] {
        try expect(await client.call(request).status, equals: .permissionDenied, "the status")
      }
      client.close()
      await client.closed()
      let other = database.connect()
      try expect(await other.get("rooms/a").isEmpty, "an operation that was denied was carried out")
      try expect(await other.get("rooms/b").isEmpty, "an operation that was denied was carried out")
    },
    Contract("the caller is the user who is signed in") { subject in
      let (guardian, client, _) = try await prepared(subject)
      try expect(await client.call(.authenticate(token: "ada")).status, equals: .ok, "the sign-in")
      _ = await client.put("rooms/a", .int(1))
      try expect(guardian.asked.entries.last?.uid, equals: "ada", "the user of a write")
      _ = await client.get("rooms/a")
      try expect(guardian.asked.entries.last?.uid, equals: "ada", "the user of a read")
      _ = await client.call(.unauthenticate)
      _ = await client.get("rooms/a")
      try expect(guardian.asked.entries.last?.uid, equals: nil, "the user after the sign-out")
    },
  ]

  static let changes: [Contract<GuardedDatabaseSubject>] = [
    Contract("calls without a connection are asked about, in the name of their caller") { subject in
      let (guardian, client, database) = try await prepared(subject)
      guardian.change { _ in false }
      let ada = CallContext(caller: .user(VerifiedUser(uid: "ada")))
      for depth in [DatabaseReadRequest.Depth.all, .keys] {
        var request = database.reading("rooms")
        request.depth = depth
        let refused = try await expectThrows(DatabaseServiceError.self, "a read that is denied") {
          try await database.backend.read(request, context: ada)
        }
        try expect(refused.code, equals: .permissionDenied, "the code of a read")
        try expect(guardian.asked.entries.last?.uid, equals: "ada", "the user of a read")
      }
      let refused = try await expectThrows(DatabaseServiceError.self, "a write that is denied") {
        try await database.backend.write(
          database.writing("rooms/hall", .put(DatabaseNode(.int(9))), hash: ""), context: ada)
      }
      try expect(refused.code, equals: .permissionDenied, "the code of a write")
      try expect(refused.current == nil, "data of a write that was denied")
      try expect(guardian.asked.entries.last?.uid, equals: "ada", "the user of a write")
      guardian.change { _ in true }
      try expect(await client.get("rooms/hall").leaf, equals: .string("here"), "the value")
    },
    Contract("a listen is asked about again when its connection is signed out, and ends when it is denied") { subject in
      let (guardian, client, _) = try await prepared(subject)
      guardian.change { if case .read = $0.subject { $0.uid == "ada" } else { true } }
      _ = await client.call(.authenticate(token: "ada"))
      try expect(await client.call(.listen(DatabaseListen(path: "rooms"))).status, equals: .ok, "the listen")
      _ = await client.call(.unauthenticate)
      try expect(client.messages.contains(.listenRevoked("rooms", .all)), "the listen lives on after the reply")
      let before = data(client).count
      _ = await client.put("rooms/hall", .int(2))
      try expect(data(client).count, equals: before, "the number of messages with data")
    },
    Contract("every listen is asked about again when the rules change, and ends when it is denied") { subject in
      let (guardian, client, database) = try await prepared(subject)
      let other = database.connect()
      for client in [client, other] {
        _ = await client.call(.listen(DatabaseListen(path: "rooms")))
        _ = await client.call(.listen(DatabaseListen(path: "public")))
      }
      guardian.change {
        if case .read(let read) = $0.subject { read.path == "public" } else { true }
      }
      for client in [client, other] {
        await client.wait { $0.contains(.listenRevoked("rooms", .all)) }
        try expect(!client.messages.contains(.listenRevoked("public", .all)), "a listen that is allowed has ended")
      }
      let before = data(other).count
      _ = await client.put("rooms/hall", .int(2))
      _ = await client.put("public/a", .int(2))
      await other.wait { $0.contains(.data("public/a", DatabaseNode(.int(2)), tag: nil)) }
      try expect(data(other).count, equals: before + 1, "the number of messages with data")
    },
  ]
}
