import VestaDatabaseBackend
public import VestaTesting

/// The promises of every backend of the Realtime Database, as checks.
public enum DatabaseContracts {
  /// All of them; each wants a backend with an empty database.
  public static let all: [Contract<DatabaseSubject>] = connections + writes + listens + queries + ends + calls

  /// The promises of connections.
  static let connections: [Contract<DatabaseSubject>] = [
    Contract("the first message is the greeting, with a time and a session") { subject in
      let client = subject.connect()
      _ = await client.get("a")
      guard case .hello(let hello)? = client.messages.first else {
        throw ContractViolation("the first message is \(String(describing: client.messages.first))")
      }
      try expect(hello.timestamp > 0 && !hello.session.isEmpty, "the greeting lacks its time or its session")
    },
    Contract("two connections have two sessions") { subject in
      let sessions = await [subject.connect(), subject.connect()].asyncMap { client in
        _ = await client.get("a")
        if case .hello(let hello)? = client.messages.first { return hello.session }
        return ""
      }
      try expect(Set(sessions).count, equals: 2, "the number of sessions")
    },
    Contract("each request has one reply, and writes are answered in order") { subject in
      let client = subject.connect()
      let ids = (0..<20).map { client.send(.put("n", DatabaseNode(.int(Int64($0))), hash: nil)) }
      for id in ids { _ = await client.reply(id) }
      _ = await client.get("n")
      let replied = client.messages.compactMap { message -> Int? in
        if case .reply(let id, _) = message, ids.contains(id) { id } else { nil }
      }
      try expect(replied, equals: ids, "the replies")
    },
    Contract("a closed connection gets the end, once and last") { subject in
      let client = subject.connect()
      _ = await client.put("a", .int(1))
      client.close()
      client.close()
      await client.closed()
      _ = await subject.connect().get("a")
      let closings = client.messages.filter { if case .closed = $0 { true } else { false } }
      try expect(closings.count, equals: 1, "the number of closings")
      guard case .closed? = client.messages.last else { throw ContractViolation("something follows the closing") }
    },
    Contract("what is asked after the end of a connection is not carried out") { subject in
      let client = subject.connect(), other = subject.connect()
      _ = await client.put("a", .int(1))
      client.close()
      _ = client.send(.put("a", DatabaseNode(.int(2)), hash: nil))
      await client.closed()
      _ = await other.put("b", .int(1))
      try expect(await other.get("a").leaf, equals: .int(1), "the value")
    },
  ]

  /// The promises of writes.
  static let writes: [Contract<DatabaseSubject>] = [
    Contract("what was written is read by another connection") { subject in
      try expect(await subject.connect().put("a/b", .string("x")).status, equals: .ok, "the status")
      try expect(await subject.connect().get("a/b").leaf, equals: .string("x"), "the value")
    },
    Contract("a write with a hash is carried out only on the data of the hash") { subject in
      let client = subject.connect()
      try expect(await client.put("n", .int(1), hash: "").status, equals: .ok, "on nothing")
      try expect(await client.put("n", .int(2), hash: "").status, equals: .dataStale, "on other data")
      try expect(await client.get("n").leaf, equals: .int(1), "the value")
    },
    Contract("a write to several places is carried out whole or not at all") { subject in
      let client = subject.connect()
      let values = [DatabasePathValue("a", DatabaseNode(.int(1))), DatabasePathValue("b/c", DatabaseNode(.int(2)))]
      try expect(await client.call(.merge("m", values)).status, equals: .ok, "the status")
      try expect(await client.get("m/b/c").leaf, equals: .int(2), "the second value")
      let wrong = [DatabasePathValue("d", DatabaseNode(.int(1))), DatabasePathValue("x.y", DatabaseNode(.int(2)))]
      try expect(await client.call(.merge("m", wrong)).status != .ok, "a wrong key was accepted")
      try expect(await client.get("m/d").isEmpty, "a part of a refused write was kept")
    },
    Contract("server values are filled in once") { subject in
      let client = subject.connect()
      _ = await client.put("n", .int(40))
      _ = await client.put("n", .incrementInt(2))
      try expect(await client.get("n").leaf, equals: .int(42), "the sum")
      _ = await client.put("t", .timestamp)
      try expect((await client.get("t").leaf?.number ?? 0) > 0, "the time is missing")
    },
    Contract("removing the last child removes the parent") { subject in
      let client = subject.connect()
      _ = await client.put("a/b/c", .int(1))
      _ = await client.call(.put("a/b/.priority", DatabaseNode(.int(1)), hash: nil))
      _ = await client.call(.put("a/b/c", .empty, hash: nil))
      try expect(await client.get(.root).isEmpty, "something is left")
    },
  ]

  /// The promises of listens.
  static let listens: [Contract<DatabaseSubject>] = [
    Contract("a listen is sent the data before its reply, and then the changes") { subject in
      let writer = subject.connect(), reader = subject.connect()
      _ = await writer.put("a/b", .int(1))
      let id = reader.send(.listen(DatabaseListen(path: "a")))
      try expect(await reader.reply(id).status, equals: .ok, "the status")
      let first = DatabaseServerMessage.data("a", DatabaseNode(children: [("b", DatabaseNode(.int(1)))]), tag: nil)
      let data = try expectValue(reader.messages.firstIndex(of: first), "the data")
      let reply = reader.messages.firstIndex { if case .reply(id, _) = $0 { true } else { false } }
      try expect(data < reply ?? 0, "the reply came before the data")
      _ = await writer.put("a/c", .int(2))
      await reader.wait { $0.contains(.data("a/c", DatabaseNode(.int(2)), tag: nil)) }
    },
    Contract("the data of a connection's own write arrives before the reply of the write") { subject in
      let client = subject.connect()
      _ = await client.call(.listen(DatabaseListen(path: "a")))
      let id = client.send(.put("a", DatabaseNode(.int(1)), hash: nil))
      _ = await client.reply(id)
      let data = client.messages.firstIndex(of: .data("a", DatabaseNode(.int(1)), tag: nil))
      let reply = client.messages.firstIndex { if case .reply(id, _) = $0 { true } else { false } }
      try expect(try expectValue(data, "the data") < reply ?? 0, "the reply came before the data")
    },
    Contract("an ended listen is sent nothing any more") { subject in
      let client = subject.connect()
      _ = await client.call(.listen(DatabaseListen(path: "a")))
      _ = await client.call(.unlisten("a", .all, tag: nil))
      _ = await client.put("a", .int(7))
      try expect(!client.messages.contains(.data("a", DatabaseNode(.int(7)), tag: nil)), "data of an ended listen")
    },
    Contract("a query is sent what it asks for, under its tag") { subject in
      let client = subject.connect()
      for (key, value) in [("a", 1), ("b", 2), ("c", 3)] { _ = await client.put(DatabasePath(key), .int(Int64(value))) }
      let spec = DatabaseQuerySpec(index: .key, limit: .init(2, .last))
      _ = await client.call(.listen(DatabaseListen(path: .root, spec: spec, tag: 9)))
      let window = DatabaseNode(children: [("b", DatabaseNode(.int(2))), ("c", DatabaseNode(.int(3)))])
      try expect(client.messages.contains(.data(.root, window, tag: 9)), "the data of the query is missing")
      _ = await client.put("d", .int(4))
      await client.wait { messages in
        messages.contains { message in
          switch message {
          case .data(let path, _, 9): path == "d"
          case .merge(_, let values, 9): values.contains { $0.path == "d" }
          default: false
          }
        }
      }
    },
  ]

  /// The promises of queries.
  static let queries: [Contract<DatabaseSubject>] = [
    Contract("bounds include their value unless they say otherwise, and so do limits of the range") { subject in
      let client = subject.connect()
      for (key, value) in [("a", 1), ("b", 2), ("c", 2), ("d", 3)] {
        _ = await client.put(DatabasePath(key), .int(Int64(value)))
      }
      func keys(_ start: DatabaseQuerySpec.Bound?, _ end: DatabaseQuerySpec.Bound?) async -> [String] {
        let spec = DatabaseQuerySpec(index: .value, start: start, end: end)
        var keys: [String] = []
        await client.call(.get(.root, spec)).node.forEachChild { key, _ in keys.append(key.text) }
        return keys
      }
      let (one, two, three) = (DatabaseNode(.int(1)), DatabaseNode(.int(2)), DatabaseNode(.int(3)))
      try expect(await keys(.init(two), .init(three)), equals: ["b", "c", "d"], "from two to three")
      try expect(
        await keys(.init(one, isInclusive: false), .init(three, isInclusive: false)), equals: ["b", "c"], "between")
      try expect(await keys(.init(two, key: "b", isInclusive: false), .init(two)), equals: ["c"], "after a key")
    },
    Contract("what comes into a query with a limit when another child leaves is sent") { subject in
      let client = subject.connect(), writer = subject.connect()
      for (key, value) in [("a", 1), ("b", 2), ("c", 3)] { _ = await writer.put(DatabasePath(key), .int(Int64(value))) }
      let spec = DatabaseQuerySpec(index: .value, limit: .init(2, .last))
      _ = await client.call(.listen(DatabaseListen(path: .root, spec: spec, tag: 3)))
      let before = client.messages.count
      _ = await writer.call(.put("c", .empty, hash: nil))
      await client.wait { $0.count > before }
      // The backend has processed everything before this request, so nothing more will be sent.
      _ = await client.get(.root)
      var shown = Set(["b", "c"])
      for message in client.messages.dropFirst(before) {
        switch message {
        case .data(let path, let node, 3):
          if path.isRoot { shown = [] }
          if path.isRoot { node.forEachChild { key, _ in shown.insert(key.text) } }
          if let key = path.front { if node.isEmpty { shown.remove(key.text) } else { shown.insert(key.text) } }
        case .merge(_, let values, 3):
          for value in values {
            let key = value.path.front?.text ?? ""
            if value.node.isEmpty { shown.remove(key) } else { shown.insert(key) }
          }
        default: break
        }
      }
      try expect(shown, equals: ["a", "b"], "what the query shows")
    },
  ]

  /// The promises of the end of a connection.
  static let ends: [Contract<DatabaseSubject>] = [
    Contract("what was asked for the end of a connection is carried out once, when it ends") { subject in
      let client = subject.connect(), other = subject.connect()
      _ = await client.call(.onDisconnectPut("count", DatabaseNode(.incrementInt(1))))
      _ = await client.call(.onDisconnectPut("kept/a", DatabaseNode(.int(1))))
      _ = await client.call(.onDisconnectCancel("kept"))
      try expect(await other.get("count").isEmpty, "it was carried out before the end")
      client.close()
      client.close()
      await client.closed()
      await untilCounted(other)
      _ = await other.put("a", .int(1))
      try expect(await other.get("count").leaf, equals: .int(1), "the count")
      try expect(await other.get("kept").isEmpty, "what was cancelled was carried out")
    },
    Contract("a connection that nobody has any more ends as one that was closed") { subject in
      let other = subject.connect()
      let messages = await dropConnection(subject)
      await messages.wait { $0.contains { if case .closed = $0 { true } else { false } } }
      await untilCounted(other)
      _ = await other.put("a", .int(1))
      try expect(await other.get("count").leaf, equals: .int(1), "the count")
    },
  ]

  /// Reads until the operation for the end of another connection is carried out.
  ///
  /// Over a network that is later than the close. A backend that forgets the operation is asked a bounded number of
  /// times.
  private static func untilCounted(_ client: ContractClient) async {
    for _ in 0..<200 {
      guard await client.get("count").isEmpty else { return }
    }
  }

  /// Asks for something at the end of a connection and drops it; returns what it is sent.
  private static func dropConnection(_ subject: DatabaseSubject) async -> Log<DatabaseServerMessage> {
    let messages = Log<DatabaseServerMessage>()
    let connection = subject.open { messages.add($0) }
    connection.send(.onDisconnectPut("count", DatabaseNode(.incrementInt(1))), id: 1)
    await messages.wait { $0.contains { if case .reply(1, _) = $0 { true } else { false } } }
    withExtendedLifetime(connection) {}
    return messages
  }
}

extension Sequence {
  func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
