import VestaConcurrency
public import VestaFirestoreBackend
import VestaServiceInterop
public import VestaTesting

/// A backend with its administration, with nothing in it.
public struct FirestoreAdminSubject: Sendable {
  let backend: any FirestoreBackend
  let admin: any FirestoreAdminBackend

  /// A subject.
  ///
  /// - Parameters:
  ///   - backend: The backend; it takes calls of owners.
  ///   - admin: The administration of the same databases.
  public init(_ backend: any FirestoreBackend, admin: any FirestoreAdminBackend) {
    (self.backend, self.admin) = (backend, admin)
  }

  static func database(_ id: String) -> String { "projects/contracts/databases/\(id)" }

  /// Writes documents, each by a commit, so that they have different times.
  func set(_ paths: String..., to number: Int64 = 1, in id: String) async throws {
    let database = Self.database(id)
    for path in paths {
      let document = Document(name: "\(database)/documents/\(path)", fields: ["n": .integer(number)])
      _ = try await backend.commit(CommitRequest(database: database, writes: [.update(document)]), context: .owner)
    }
  }

  /// The documents of a database by their paths, as a query has them.
  func documents(of id: String, at time: Timestamp? = nil) async throws -> [String: Document] {
    let root = "\(Self.database(id))/documents"
    var found: [String: Document] = [:]
    let request = RunQueryRequest(
      parent: root, query: StructuredQuery(from: [.init(collectionID: "", allDescendants: true)]),
      consistency: time.map { .readTime($0) } ?? .latest)
    try await backend.runQuery(request, context: .owner) { response in
      if let document = response.document { found[String(document.name.dropFirst(root.count + 1))] = document }
    }
    return found
  }

  /// The documents at some paths, and when they were read.
  func get(
    _ paths: [String], in id: String, at time: Timestamp? = nil
  ) async throws -> (found: [String: Document], time: Timestamp?) {
    let database = Self.database(id)
    var (found, seen): ([String: Document], Timestamp?) = ([:], nil)
    let request = BatchGetDocumentsRequest(
      database: database, documents: paths.map { "\(database)/documents/\($0)" },
      consistency: time.map { .readTime($0) } ?? .latest)
    try await backend.batchGet(request, context: .owner) { response in
      seen = response.readTime ?? seen
      if case .found(let document)? = response.result { found[document.name] = document }
    }
    return (found, seen)
  }

  func exported(_ id: String) async throws -> [Document] {
    var all: [Document] = []
    try await admin.export(Self.database(id), context: .owner) { all += $0 }
    return all
  }

  func take(_ documents: [Document], into id: String, at count: Int = 2) async throws {
    var rest = documents[...]
    try await admin.import(Self.database(id), context: .owner) {
      if rest.isEmpty { return nil }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
  }
}

/// The promises of every administration of document databases, as checks.
public enum FirestoreAdminContracts {
  /// All of them; each is checked on a fresh backend.
  public static let all: [Contract<FirestoreAdminSubject>] = calls + content

  private static let paths = ["a/1", "a/2", "a/1/b/1", "missing/x/below/1", "z/é"]
  private static let indexes = """
    {"indexes": [{"collectionGroup": "a", "queryScope": "COLLECTION", "fields": [
      {"fieldPath": "n", "order": "ASCENDING"}, {"fieldPath": "m", "order": "DESCENDING"}]}]}
    """

  private static let calls: [Contract<FirestoreAdminSubject>] = [
    Contract("every call is the owner's") { subject in
      try await subject.set("a/1", in: "one")
      let name = FirestoreAdminSubject.database("one")
      let (admin, user) = (subject.admin, CallContext(caller: .user(VerifiedUser(uid: "ada"))))
      func denied(_ what: String, _ call: () async throws -> Void) async throws {
        let error = try await expectThrows(FirestoreServiceError.self, what, call)
        try expect(error.code, equals: .permissionDenied, what)
      }
      try await denied("databases") { _ = try await admin.databases(context: user) }
      try await denied("create") {
        try await admin.createDatabase(FirestoreAdminSubject.database("two"), context: user)
      }
      try await denied("indexes") { _ = try await admin.indexes(of: name, context: user) }
      try await denied("set indexes") { try await admin.setIndexes(indexes, of: name, context: user) }
      try await denied("delete") { try await admin.deleteDatabase(name, context: user) }
      try await denied("clear") { try await admin.clear(name, context: user) }
      try await denied("export") { try await admin.export(name, context: user) { _ in } }
      try await denied("import") { try await admin.import(name, context: user) { nil } }
      try expect(Array(try await subject.documents(of: "one").keys), equals: ["a/1"], "the documents")
      try expect(try await admin.databases(context: .owner), equals: [name], "the databases")
    },
    Contract("a database is made once, by its creation or by a write, and listed") { subject in
      for id in ["b", "a"] {
        try await subject.admin.createDatabase(FirestoreAdminSubject.database(id), context: .owner)
      }
      try await subject.set("x/1", in: "c")
      for id in ["a", "c"] {
        let error = try await expectThrows(FirestoreServiceError.self, "a database that is there") {
          try await subject.admin.createDatabase(FirestoreAdminSubject.database(id), context: .owner)
        }
        try expect(error.code, equals: .alreadyExists, "a database that is there")
      }
      let names = ["a", "b", "c"].map { FirestoreAdminSubject.database($0) }
      try expect(try await subject.admin.databases(context: .owner), equals: names, "the databases")
    },
    Contract("a deleted database is empty and listed no longer, until a write or its creation makes it anew") {
      subject in
      let (one, two) = (FirestoreAdminSubject.database("one"), FirestoreAdminSubject.database("two"))
      try await subject.set("a/1", "a/1/b/2", in: "one")
      try await subject.set("a/1", in: "two")
      try await subject.admin.setIndexes(indexes, of: one, context: .owner)
      try await subject.admin.deleteDatabase(one, context: .owner)
      try expect(try await subject.admin.databases(context: .owner), equals: [two], "the databases after the deletion")
      for call in [
        { _ = try await subject.documents(of: "one") },
        { try await subject.admin.deleteDatabase(one, context: .owner) },
      ] {
        let error = try await expectThrows(FirestoreServiceError.self, "a call after the deletion", call)
        try expect(error.code, equals: .notFound, "a call after the deletion")
      }
      try await subject.set("c/3", in: "one")
      try expect(try await subject.admin.databases(context: .owner), equals: [one, two], "the databases after a write")
      try expect(Array(try await subject.documents(of: "one").keys), equals: ["c/3"], "the documents after a write")
      let text = try await subject.admin.indexes(of: one, context: .owner)
      try expect(text?.contains("collectionGroup") ?? false, equals: false, "the indexes after a write")
      try await subject.admin.deleteDatabase(one, context: .owner)
      try await subject.admin.createDatabase(one, context: .owner)
      try expect(try await subject.documents(of: "one").isEmpty, equals: true, "the documents after the creation")
      try expect(Array(try await subject.documents(of: "two").keys), equals: ["a/1"], "the other database")
    },
    Contract("indexes that were set are told, and a text that is none changes nothing") { subject in
      let name = FirestoreAdminSubject.database("one")
      try await subject.set("a/1", in: "one")
      try expect(try await subject.admin.indexes(of: name, context: .owner), equals: nil, "no indexes")
      try await subject.admin.setIndexes(indexes, of: name, context: .owner)
      for wrong in ["", "[]", #"{"indexes": [{"collectionGroup": "a", "fields": []}]}"#] {
        let error = try await expectThrows(FirestoreServiceError.self, "the indexes \(wrong)") {
          try await subject.admin.setIndexes(wrong, of: name, context: .owner)
        }
        try expect(error.code, equals: .invalidArgument, "the indexes \(wrong)")
      }
      try expect(try await subject.admin.indexes(of: name, context: .owner), equals: indexes, "the indexes")
    },
    Contract("of changes of the same indexes one is made, and the others change nothing") { subject in
      let (name, admin) = (FirestoreAdminSubject.database("one"), subject.admin)
      try await subject.set("a/1", in: "one")
      var current: String?
      for round in 0..<4 {
        let (before, wins) = (current, Log<String>())
        try await withThrowingTaskGroup { group in
          for writer in 0..<4 {
            group.addTask {
              let text = """
                {"fieldOverrides": [{"collectionGroup": "g\(round)\(writer)", "fieldPath": "m", "indexes": []}]}
                """
              do {
                try await admin.setIndexes(text, of: name, if: .text(before), context: .owner)
                wins.add(text)
              } catch let error as FirestoreServiceError {
                try expect(error.code, equals: .aborted, "a change of indexes that were replaced")
              }
            }
          }
          try await group.waitForAll()
        }
        try expect(wins.entries.count, equals: 1, "the number of changes that were made")
        current = try await admin.indexes(of: name, context: .owner)
        try expect(current, equals: wins.entries.first, "the indexes")
      }
      try await admin.setIndexes(indexes, of: name, context: .owner)
      try expect(try await admin.indexes(of: name, context: .owner), equals: indexes, "the indexes without a condition")
    },
  ]

  private static let content: [Contract<FirestoreAdminSubject>] = [
    Contract("an export has every document once, with its times, and is of one moment") { subject in
      for path in paths { try await subject.set(path, in: "one") }
      try await subject.set("a/1", to: 2, in: "one")
      let before = try await subject.documents(of: "one")
      var all: [Document] = []
      try await subject.admin.export(FirestoreAdminSubject.database("one"), context: .owner) { part in
        if all.isEmpty { try await subject.set("a/1", "zz/late", to: 9, in: "one") }
        all += part
      }
      try expect(all.count, equals: before.count, "the number of documents")
      try expect(Set(all), equals: Set(before.values), "the documents")
    },
    Contract("what an export gives, an import takes, times of creation included") { subject in
      for path in paths { try await subject.set(path, in: "one") }
      try await subject.set("a/1", to: 2, in: "one")
      try await subject.take(try await subject.exported("one"), into: "two")
      let (one, two) = (try await subject.documents(of: "one"), try await subject.documents(of: "two"))
      try expect(two.mapValues(\.fields), equals: one.mapValues(\.fields), "the fields")
      try expect(two.mapValues(\.createTime), equals: one.mapValues(\.createTime), "the times of creation")
      // It is a database like any other.
      try await subject.set("a/1", to: 3, in: "two")
      let changed = try await subject.documents(of: "two")["a/1"]
      try expect(changed?.fields, equals: ["n": .integer(3)], "a document that is changed afterwards")
      try expect(changed?.createTime, equals: one["a/1"]?.createTime, "its time of creation")
    },
    Contract("an import replaces what it names, leaves the rest, and makes no document older") { subject in
      try await subject.set("a/1", "a/new", in: "one")
      let documents = try await subject.exported("one")
      try await subject.set("a/1", "a/2", to: 5, in: "two")
      let before = try await subject.documents(of: "two")
      try await subject.take(documents, into: "two")
      let after = try await subject.documents(of: "two")
      let fields: [String: MapValue] = [
        "a/1": ["n": .integer(1)], "a/2": ["n": .integer(5)], "a/new": ["n": .integer(1)],
      ]
      try expect(after.mapValues(\.fields), equals: fields, "the documents")
      try expect(after["a/2"], equals: before["a/2"], "a document that the import does not name")
      let made = documents.first { $0.name.hasSuffix("/a/new") }
      try expect(after["a/new"]?.createTime, equals: made?.createTime, "the time of creation of a new document")
      let earlier = try expectValue(before["a/2"]?.updateTime, "a time")
      for path in ["a/1", "a/new"] {
        try expect(try expectValue(after[path]?.updateTime, "a time") > earlier, "\(path) is older than what was there")
      }
    },
    Contract("two reads at one time agree, or the second one is refused, whatever is imported between them") {
      subject in
      try await subject.set("a/1", "a/2", in: "one")
      let documents = try await subject.exported("one")
      for id in ["two", "three"] {
        let database = FirestoreAdminSubject.database(id)
        try await subject.admin.createDatabase(database, context: .owner)
        if id == "three" { try await subject.set("a/2", to: 7, in: id) }
        let read = try expectValue(try await subject.get(["a/1", "a/2"], in: id).time, "a read time")
        let (all, one) = (
          try await subject.documents(of: id, at: read), try await subject.get(["a/1", "a/2"], in: id, at: read).found
        )
        try await subject.take(documents, into: id, at: 1)
        do {
          try expect(try await subject.documents(of: id, at: read), equals: all, "a query of the past")
          try expect(try await subject.get(["a/1", "a/2"], in: id, at: read).found, equals: one, "a get of the past")
        } catch let error as FirestoreServiceError {
          try expect(error.code, equals: .failedPrecondition, "a read of the past")
        }
      }
    },
    Contract("a clear deletes everything, and what is written afterwards stays") { subject in
      for path in paths { try await subject.set(path, in: "one") }
      try await subject.set("a/1", in: "two")
      try await subject.admin.clear(FirestoreAdminSubject.database("one"), context: .owner)
      try expect(try await subject.documents(of: "one"), equals: [:], "the documents")
      try expect(try await subject.exported("one").isEmpty, "the export of a database that was cleared")
      try expect(try await subject.documents(of: "two").count, equals: 1, "the documents of another database")
      try await subject.set("a/1", to: 4, in: "one")
      let left = try await subject.documents(of: "one").mapValues(\.fields)
      try expect(left, equals: ["a/1": ["n": .integer(4)]], "a document that was written afterwards")
    },
    Contract("a listener that is open while a database is cleared sees the deletions") { subject in
      let documents = FirestoreSubject(subject.backend)
      try await documents.commit(documents.set("rooms/a"), documents.set("rooms/b"))
      var probe = try await ListenProbe(documents)
      defer { probe.cancel() }
      probe.add(Target(id: 2, .query(parent: documents.root, .all("rooms"))))
      try await probe.current(2)
      try expect(probe.fields(of: 2, in: documents).count, equals: 2, "the documents before")
      try await subject.admin.clear(documents.database, context: .owner)
      let after = try await documents.commit(documents.set("rooms/c"))
      try await probe.snapshot(from: after.commitTime)
      try expect(Set(probe.fields(of: 2, in: documents).keys), equals: ["rooms/c"], "the documents after")
    },
    Contract("a target that is resumed after a clear has nothing of before") { subject in
      let documents = FirestoreSubject(subject.backend)
      try await documents.commit(documents.set("rooms/a"), documents.set("rooms/b"))
      var probe = try await ListenProbe(documents)
      probe.add(Target(id: 2, .query(parent: documents.root, .all("rooms"))))
      try await probe.current(2)
      probe.cancel()
      try await subject.admin.clear(documents.database, context: .owner)
      try await documents.commit(documents.set("rooms/c"))
      var next = try await ListenProbe(documents)
      defer { next.cancel() }
      next.adopt(2, from: probe)
      next.add(Target(id: 2, .query(parent: documents.root, .all("rooms")), resume: .token(probe.token)))
      try await next.current(2)
      try expect(Set(next.fields(of: 2, in: documents).keys), equals: ["rooms/c"], "the documents after")
    },
  ]
}
