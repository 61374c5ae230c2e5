import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaRulesGuards

private func firestoreRules(_ condition: String) -> String {
  "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read: if \(condition); } }"
}

private func storageRules(_ condition: String) -> String {
  "rules_version = '2'; service firebase.storage { match /b/{b}/o/{all=**} { allow get: if \(condition); } }"
}

private func databaseRules(_ condition: String) -> String { #"{"rules": {".read": "\#(condition)"}}"# }

/// The sources of the app that is being configured.
private let chosen = Locked<RulesSources?>(nil)

private enum ChosenRules: Library {
  static let name = "chosen-rules"
  static func components() -> [Component] {
    let sources = chosen.withLock { $0 }
    return [Component(RulesSources.self, caching: .shared) { _ in sources }]
  }
}

/// Stands in for an engine: it asks for a guard as engines do.
private final class AskingEngine: Sendable {
  let gatekeeper: (any FirestoreGuard)?
  init(_ gatekeeper: (any FirestoreGuard)?) { self.gatekeeper = gatekeeper }
}

private enum AskingEngines: Library {
  static let name = "asking-engines"
  static func components() -> [Component] {
    [
      EmbeddedService<AskingEngine>.component(product: "Asking", dependencies: [.optional((any FirestoreGuard).self)]) {
        container, _ in
        AskingEngine(try container.find((any FirestoreGuard).self))
      } close: { _ in
      },
      EmbeddedService<AskingEngine>.provides(AskingEngine.self) { $0 },
    ]
  }
}

private struct NoDocuments: FirestoreGuardState {
  nonisolated(nonsending) func document(_ name: String) async throws -> Document? { nil }
}

@Suite(.serialized) struct RulesLibraryTests {
  private func app(
    _ name: String, project: String = "rules-library", _ sources: RulesSources?
  ) throws -> VestaApp {
    chosen.withLock { $0 = sources }
    let app = try VestaApp.configure(
      name: name, options: VestaOptions(projectID: project),
      libraries: [RulesLibrary.self, AskingEngines.self, ChosenRules.self])
    _ = app.container.resolve(RulesSources.self)
    return app
  }

  private func mayGet(_ app: VestaApp) async throws -> Bool {
    let gatekeeper = try #require(try app.container.require(AskingEngine.self).gatekeeper)
    return try await gatekeeper.mayGet(
      "projects/p/databases/(default)/documents/a/b", nil, state: NoDocuments(), at: Timestamp(seconds: 0),
      context: CallContext())
  }

  private func mayOpen(_ app: VestaApp) async throws -> Bool {
    try await app.container.require((any StorageGuard).self).allows(
      .get(ObjectName(bucket: "b", name: "x"), existing: nil), at: 0, context: CallContext())
  }

  private func mayRead(_ app: VestaApp) async throws -> Bool {
    try await app.container.require((any DatabaseGuard).self).mayRead(
      DatabaseGuardedRead("a", .all, at: 0), state: DatabaseNodeState(.empty), context: CallContext())
  }

  private func allows(_ rules: ProjectRules) -> Bool {
    rules.firestore.current?.decide(RulesRequest(.get, RulesPath("/a/b"))).isAllowed == true
  }

  @Test func `the guards of an app decide by the rules that the program names`() async throws {
    let open = try app(
      "open",
      RulesSources(
        firestore: .text(firestoreRules("true")), storage: .text(storageRules("true")),
        database: .text(databaseRules("true"))))
    #expect(try await mayGet(open))
    #expect(try await mayOpen(open))
    #expect(try await mayRead(open))
    await open.delete()
    let empty = try app("empty", nil)
    #expect(try await !mayGet(empty))
    #expect(try await !mayOpen(empty))
    #expect(try await !mayRead(empty))
    await empty.delete()
  }

  @Test func `rules without the library that reads them are refused, and no engine runs without its rules`() throws {
    chosen.withLock { $0 = RulesSources() }
    let error = try #require(throws: VestaError.self) {
      try VestaApp.configure(
        name: "unread-rules", options: VestaOptions(projectID: "rules-library"),
        libraries: [AskingEngines.self, ChosenRules.self])
    }
    #expect(error.code == .missingDependency)
    #expect(error.message.contains("chosen-rules provides RulesSources, which no library in the list reads"))
    #expect(error.message.contains("RulesLibrary.self]"))
  }

  @Test func `single databases and buckets have the rules of their name`() throws {
    let rules = try ProjectRules(
      RulesSources(
        firestore: .text(firestoreRules("false")), storage: .text(storageRules("false")),
        database: .text(databaseRules("false")),
        named: [
          .firestore: ["other": .text(firestoreRules("true"))], .storage: ["b": .text(storageRules("true"))],
          .database: ["n": .text(databaseRules("true"))],
        ]))
    func text(_ product: RuledProduct, _ scope: String) -> String? {
      let found = rules.rules(of: product, scope: scope)
      switch product {
      case .firestore: return found?.firestore.current?.text
      case .storage: return found?.storage.current?.text
      case .database: return found?.database.current?.source
      }
    }
    #expect(text(.firestore, "other") == firestoreRules("true"))
    #expect(text(.firestore, "(default)") == firestoreRules("false"))
    #expect(text(.firestore, "b") == firestoreRules("false"), "the name of a bucket")
    #expect(text(.storage, "b") == storageRules("true") && text(.storage, "other") == storageRules("false"))
    #expect(text(.database, "n") == databaseRules("true") && text(.database, "b") == databaseRules("false"))
  }

  @Test func `an engine is not made with rules that do not compile`() async throws {
    let app = try app("wrong", RulesSources(firestore: .text("service {"), storage: .file("/no/such/file")))
    let error = #expect(throws: VestaError.self) { try app.container.require(AskingEngine.self) }
    let text = error?.description ?? ""
    #expect(text.contains("The rules of Firestore cannot be used:\n") && text.contains("ERROR 1:9"), "\(text)")
    #expect(text.contains("The rules file /no/such/file cannot be read: There is no such file."), "\(text)")
    #expect(throws: VestaError.self) { try app.container.require((any StorageGuard).self) }
    await app.delete()
  }

  @Test func `rules are replaced together, or not at all, for all apps of a project`() async throws {
    let first = try app("first", RulesSources(firestore: .text(firestoreRules("true"))))
    let second = try app("second", RulesSources(firestore: .text(firestoreRules("false"))))
    // The rules are the project's, and the first app has set them.
    #expect(try await mayGet(first))
    #expect(try await mayGet(second))
    let rules = try second.container.require(ProjectRules.self)
    let observed = Log<Int>()
    let gatekeeper = try first.container.require((any FirestoreGuard).self)
    let registration = gatekeeper.observe { observed.add(1) }
    defer { registration.cancel() }
    let error = await #expect(throws: ProjectRulesError.self) {
      try await rules.replace(
        with: RulesSources(
          firestore: .text(firestoreRules("false")), storage: .text(storageRules("true")), database: .text("{")))
    }
    #expect(error?.database?.issues.isEmpty == false && error?.firestore == nil && error?.storage == nil)
    #expect(try await mayGet(first), "one that does not compile leaves all as they are")
    #expect(try await !mayOpen(first))
    let warnings = try await rules.replace(
      with: RulesSources(firestore: .text(firestoreRules("nothing")), storage: .text(storageRules("true"))))
    #expect(warnings.firestore.map(\.message) == ["Invalid variable name: nothing."])
    #expect(try await !mayGet(first))
    #expect(try await mayOpen(second))
    #expect(observed.entries.count == 1)
    await first.delete()
    // The engine has outlived its app, and its rules too.
    _ = try await rules.replace(with: RulesSources(firestore: .text(firestoreRules("true"))))
    #expect(try await mayGet(second))
    await second.delete()
  }

  @Test func `a file is read again when it is told to, and a wrong one changes nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.rules")
      try Data(firestoreRules("true").utf8).write(to: file)
      let rules = try ProjectRules(RulesSources(firestore: .file(file.path)))
      #expect(allows(rules))
      try Data(firestoreRules("false").utf8).write(to: file)
      #expect(allows(rules))
      try await rules.reload()
      #expect(!allows(rules))
      for wrong in [Data("match".utf8), Data([0xFF, 0xFE])] {
        try wrong.write(to: file)
        await #expect(throws: ProjectRulesError.self) { try await rules.reload() }
      }
      try FileManager.default.removeItem(at: file)
      let error = await #expect(throws: ProjectRulesError.self) { try await rules.reload() }
      #expect(error?.description.contains("There is no such file.") == true)
      #expect(!allows(rules))
    }
  }

  @Test func `of two replacements at once the later one counts for every service`() async throws {
    // The first is large, so that the second is compiled before it.
    let large = (0..<2_000).map { "match /c\($0)/{id} { allow get: if false; }" }.joined()
    let slow = "rules_version = '2'; service cloud.firestore { \(large) }"
    for _ in 0..<5 {
      let rules = try ProjectRules()
      let first = Task {
        try await rules.replace(with: RulesSources(firestore: .text(slow), storage: .text(storageRules("false"))))
      }
      while rules.firestore.turnsTaken == 0 { await Task.yield() }
      try await rules.replace(with: RulesSources(firestore: .text(firestoreRules("true"))))
      _ = try await first.value
      #expect(allows(rules))
      #expect(rules.storage.current != nil, "the service that the later one does not name has the earlier one's rules")
    }
  }

  @Test func `a name that no document can have is a failed lookup`() async throws {
    struct Refusing: FirestoreReading {
      nonisolated(nonsending) func document(
        _ name: String, in database: String, at version: Timestamp?, until deadline: Int64?
      ) async throws -> (document: Document?, version: Timestamp?) {
        throw FirestoreServiceError(.invalidArgument, "the name is too long")
      }
    }
    func isAllowed(_ rest: String) async throws -> Bool {
      let source = storageRules("firestore.exists(/databases/(default)/documents/a/b) \(rest)")
      let rules = RulesInForce(try Ruleset(source, for: .storage))
      return try await StorageRulesGuard(rules, reading: Refusing(), project: "p").allows(
        .get(ObjectName(bucket: "b", name: "x"), existing: nil), at: 0, context: CallContext())
    }
    #expect(try await isAllowed("|| true"))
    #expect(try await !isAllowed("|| false"))
  }

  @Test func `an error of Firestore is one of Storage for the caller of Storage`() async throws {
    struct Failing: FirestoreReading {
      nonisolated(nonsending) func document(
        _ name: String, in database: String, at version: Timestamp?, until deadline: Int64?
      ) async throws -> (document: Document?, version: Timestamp?) {
        #expect(deadline == 7)
        throw FirestoreServiceError(.unavailable, "closed")
      }
    }
    let source = storageRules("firestore.exists(/databases/(default)/documents/a/b) || true")
    let guardian = StorageRulesGuard(
      RulesInForce(try Ruleset(source, for: .storage)), reading: Failing(), project: "p")
    let context = CallContext(deadline: 7)
    let error = await #expect(throws: StorageServiceError.self) {
      _ = try await guardian.allows(.get(ObjectName(bucket: "b", name: "x"), existing: nil), at: 0, context: context)
    }
    #expect(error?.code == .unavailable)
  }
}
