import VestaDatabaseBackend
import VestaServiceInterop
import VestaTesting

extension DatabaseContracts {
  private static let forged = CallContext(caller: .credential(.idToken("a.b.c")))

  /// The promises about callers, and about calls without a connection.
  static let calls: [Contract<DatabaseSubject>] = [
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let client = subject.connect()
      try expect(await client.put("a", .int(1)).status, equals: .ok, "a write of a caller who is not signed in")
      try expect(
        await client.call(.authenticate(token: "a.b.c")).status, equals: .invalidToken, "the status of a sign-in")
      let owner = DatabaseCredential(token: "a.b.c", isOwner: true, override: .nobody)
      try expect(
        await client.call(.authenticate(owner)).status, equals: .invalidToken, "the status of an owner's sign-in")
      let stranger = subject.connect(forged)
      _ = stranger.send(.put("a", DatabaseNode(.int(2)), hash: nil))
      await stranger.wait { !$0.isEmpty }
      guard case .closed = stranger.messages.first else { throw ContractViolation("the connection was opened") }
      let read = try await expectThrows(DatabaseServiceError.self, "a read") {
        try await subject.backend.read(subject.reading("a"), context: forged)
      }
      try expect(read.code, equals: .unauthenticated, "the code of a read")
      let write = try await expectThrows(DatabaseServiceError.self, "a write") {
        try await subject.backend.write(subject.writing("a", .put(DatabaseNode(.int(2)))), context: forged)
      }
      try expect(write.code, equals: .unauthenticated, "the code of a write")
      try expect(await client.get("a").leaf, equals: .int(1), "the value after refused calls")
    },
    Contract("a merge with a hash is carried out on the data of the hash alone, whole or not at all") { subject in
      let client = subject.connect()
      let values = [DatabasePathValue("a", DatabaseNode(.int(1))), DatabasePathValue("b/c", DatabaseNode(.int(2)))]
      try expect(await client.call(.merge("m", values, hash: "")).status, equals: .ok, "on nothing")
      let others = [DatabasePathValue("a", DatabaseNode(.int(8))), DatabasePathValue("d", DatabaseNode(.int(9)))]
      try expect(await client.call(.merge("m", others, hash: "")).status, equals: .dataStale, "on other data")
      try expect(await client.get("m/a").leaf, equals: .int(1), "the first value")
      try expect(await client.get("m/d").isEmpty, "a part of a merge on other data was kept")
    },
    Contract("a read without a connection has the data, or the keys of the children") { subject in
      let client = subject.connect()
      let tree = DatabaseNode(children: [
        ("a", DatabaseNode(.int(1))), ("b", DatabaseNode(children: [("c", DatabaseNode(.int(2)))])),
        ("10", DatabaseNode(.string("ten"))),
      ])
      _ = await client.call(.put("t", tree, hash: nil))
      let context = CallContext()
      var request = subject.reading("t")
      try expect(try await subject.backend.read(request, context: context).node, equals: tree, "the node")
      request.depth = .keys
      let mark = DatabaseNode(.bool(true))
      try expect(
        try await subject.backend.read(request, context: context).node,
        equals: DatabaseNode(children: [("10", mark), ("a", mark), ("b", mark)]), "the keys")
      request.spec = DatabaseQuerySpec(index: .key, limit: .init(2, .last))
      try expect(
        try await subject.backend.read(request, context: context).node,
        equals: DatabaseNode(children: [("a", mark), ("b", mark)]), "the last two keys")
      request = subject.reading("t/a")
      request.depth = .keys
      try expect(
        try await subject.backend.read(request, context: context).node, equals: DatabaseNode(.int(1)), "a leaf")
      request = subject.reading("t")
      request.spec = DatabaseQuerySpec(index: .child("size"), limit: .init(1, .first))
      request.requiresIndex = true
      let refused = try await expectThrows(DatabaseServiceError.self, "a query without its index") {
        try await subject.backend.read(request, context: context)
      }
      try expect(refused.code, equals: .failedPrecondition, "the code without an index")
    },
    Contract("a write without a connection answers what is there") { subject in
      let context = CallContext()
      let first = try await subject.backend.write(subject.writing("n", .put(DatabaseNode(.int(3)))), context: context)
      try expect(first, equals: DatabaseNode(.int(3)), "what was written")
      let sum = try await subject.backend.write(
        subject.writing("n", .put(DatabaseNode(.incrementInt(2)))), context: context)
      try expect(sum, equals: DatabaseNode(.int(5)), "a value of the server")
      let stale = try await expectThrows(DatabaseServiceError.self, "a write with a wrong hash") {
        try await subject.backend.write(
          subject.writing("n", .put(DatabaseNode(.int(7))), hash: ""), context: context)
      }
      try expect(stale.code, equals: .failedPrecondition, "the code")
      try expect(stale.current, equals: DatabaseNode(.int(5)), "the data that is there")
      let merged = try await subject.backend.write(
        subject.writing("m", .merge([DatabasePathValue("x/y", DatabaseNode(.int(1)))])), context: context)
      try expect(merged[DatabasePath("x/y")], equals: DatabaseNode(.int(1)), "what was merged")
      try expect(await subject.connect().get("n").leaf, equals: .int(5), "the value")
    },
  ]
}
