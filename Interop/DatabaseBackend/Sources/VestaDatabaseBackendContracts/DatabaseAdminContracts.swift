import VestaConcurrency
public import VestaDatabaseBackend
import VestaServiceInterop
public import VestaTesting

/// A backend with its administration, with no data.
public struct DatabaseAdminSubject: Sendable {
  let backend: any DatabaseBackend
  let admin: any DatabaseAdminBackend

  /// A subject.
  ///
  /// - Parameters:
  ///   - backend: The backend; it denies no write.
  ///   - admin: The administration of the same databases, with rules that accept any text but the empty one.
  public init(_ backend: any DatabaseBackend, admin: any DatabaseAdminBackend) {
    (self.backend, self.admin) = (backend, admin)
  }

  func put(_ node: DatabaseNode, in namespace: String) async throws {
    let request = DatabaseWriteRequest(namespace: namespace, path: .root, .put(node))
    _ = try await backend.write(request, context: .owner)
  }

  func node(in namespace: String) async throws -> DatabaseNode {
    let rows = Log<DatabaseRow>()
    try await admin.export(namespace, context: .owner) { for row in $0 { rows.add(row) } }
    // The data is what a client sees, and the export has to say the same.
    let connection = ContractClient(backend, namespace, .owner)
    let node = await connection.get(.root)
    connection.close()
    try expect(rows.entries, equals: node.rows(), "the rows of \(namespace)")
    return node
  }

  func take(_ rows: [DatabaseRow], into namespace: String, at count: Int = 2) async throws {
    let rest = Locked(rows)
    try await admin.import(namespace, context: .owner) {
      rest.withLock { rest in
        if rest.isEmpty { return nil }
        defer { rest.removeFirst(min(count, rest.count)) }
        return Array(rest.prefix(count))
      }
    }
  }
}

/// The promises of every administration of databases, as checks.
public enum DatabaseAdminContracts {
  private static let tree = DatabaseNode(
    children: [
      ("10", DatabaseNode(.string("ten"))),
      (
        "a",
        DatabaseNode(
          children: [
            ("b", DatabaseNode(.int(1), priority: .string("p"))),
            ("c", DatabaseNode(children: [("d", DatabaseNode(.bool(false)))], priority: .int(3))),
          ], priority: .double(0.5))
      ),
      ("é-😀", DatabaseNode(.double(1.5))),
    ])

  private static let small = DatabaseNode(children: [("old", DatabaseNode(.int(1)))])

  /// All of them; each wants a backend with no data.
  public static let all: [Contract<DatabaseAdminSubject>] = [
    Contract("the databases that have data are listed, in the order of their names") { subject in
      try expect(try await subject.admin.databases(context: .owner), equals: [], "the databases of nothing")
      for name in ["b", "a", "a-2"] { try await subject.put(small, in: name) }
      try await subject.put(.empty, in: "b")
      try expect(try await subject.admin.databases(context: .owner), equals: ["a", "a-2"], "the databases")
    },
    Contract("what an export gives, an import takes, into a database that had other data") { subject in
      try await subject.put(tree, in: "from")
      try await subject.put(small, in: "to")
      try expect(try await subject.node(in: "from"), equals: tree, "what was written")
      for count in [1, 2, 100] {
        try await subject.take(tree.rows(), into: "to", at: count)
        try expect(try await subject.node(in: "to"), equals: tree, "what was imported in parts of \(count)")
      }
      try await subject.take([], into: "to")
      try expect(try await subject.node(in: "to"), equals: .empty, "what an empty import leaves")
      try expect(try await subject.node(in: "from"), equals: tree, "the other database")
    },
    Contract("a leaf that is all of a database is exported and imported") { subject in
      let leaf = DatabaseNode(.string("all"), priority: .int(1))
      try await subject.put(leaf, in: "from")
      try expect(try await subject.node(in: "from"), equals: leaf, "what was written")
      try await subject.take(leaf.rows(), into: "to")
      try expect(try await subject.node(in: "to"), equals: leaf, "what was imported")
    },
    Contract("a clear removes everything in one database, and its listeners hear of it") { subject in
      for name in ["a", "b"] { try await subject.put(tree, in: name) }
      let client = ContractClient(subject.backend, "a", .owner)
      _ = await client.call(.listen(DatabaseListen(path: "a/b")))
      try await subject.admin.clear("a", context: .owner)
      await client.wait { messages in
        messages.contains { if case .data("a/b", let node, _) = $0 { node.isEmpty } else { false } }
      }
      client.close()
      try expect(try await subject.node(in: "a"), equals: .empty, "what was cleared")
      try expect(try await subject.node(in: "b"), equals: tree, "the other database")
    },
    Contract("an import and an export end with the error of the other side") { subject in
      struct Stop: Error {}
      try await subject.put(tree, in: "a")
      _ = try await expectThrows(DatabaseServiceError.self, "an export whose receiver fails") {
        try await subject.admin.export("a", context: .owner) { _ in throw Stop() }
      }
      _ = try await expectThrows(DatabaseServiceError.self, "an import whose rows fail") {
        try await subject.admin.import("b", context: .owner) { throw Stop() }
      }
      try expect(try await subject.node(in: "a"), equals: tree, "the data after an export that failed")
    },
    Contract("rules are in force when they are set, and wrong ones change nothing") { subject in
      _ = try await subject.admin.setRules("first", of: "a", context: .owner)
      try expect(try await subject.admin.rules(of: "a", context: .owner), equals: "first", "the rules")
      let refused = try await expectThrows(DatabaseServiceError.self, "wrong rules") {
        try await subject.admin.setRules("", of: "a", context: .owner)
      }
      try expect(refused.code, equals: .invalidArgument, "the code of wrong rules")
      try expect(try await subject.admin.rules(of: "a", context: .owner), equals: "first", "the rules after wrong ones")
    },
    Contract("rules that are checked alone are not in force") { subject in
      _ = try await subject.admin.setRules("first", of: "a", context: .owner)
      _ = try await subject.admin.checkRules("second", of: "a", context: .owner)
      let refused = try await expectThrows(DatabaseServiceError.self, "a check of wrong rules") {
        try await subject.admin.checkRules("", of: "a", context: .owner)
      }
      try expect(refused.code, equals: .invalidArgument, "the code of wrong rules")
      try expect(try await subject.admin.rules(of: "a", context: .owner), equals: "first", "the rules")
    },
    Contract("nobody but an owner administrates") { subject in
      try await subject.put(tree, in: "a")
      _ = try await subject.admin.setRules("first", of: "a", context: .owner)
      for context in [CallContext(), CallContext(caller: .user(VerifiedUser(uid: "ada")))] {
        let admin = subject.admin
        let calls: [(String, @Sendable () async throws -> Void)] = [
          ("databases", { _ = try await admin.databases(context: context) }),
          ("rules", { _ = try await admin.rules(of: "a", context: context) }),
          ("checkRules", { _ = try await admin.checkRules("second", of: "a", context: context) }),
          ("setRules", { _ = try await admin.setRules("second", of: "a", context: context) }),
          ("clear", { try await admin.clear("a", context: context) }),
          ("export", { try await admin.export("a", context: context) { _ in } }),
          ("import", { try await admin.import("a", context: context) { nil } }),
        ]
        for (name, call) in calls {
          let refused = try await expectThrows(DatabaseServiceError.self, name) { try await call() }
          try expect(refused.code, equals: .permissionDenied, "the code of \(name)")
        }
      }
      try expect(try await subject.node(in: "a"), equals: tree, "the data")
      try expect(try await subject.admin.rules(of: "a", context: .owner), equals: "first", "the rules")
    },
  ]
}
