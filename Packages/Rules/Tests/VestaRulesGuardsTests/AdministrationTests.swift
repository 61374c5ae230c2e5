import Foundation
import Testing
import VestaCore
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaRulesGuards

private struct NoDocuments: FirestoreGuardState {
  nonisolated(nonsending) func document(_ name: String) async throws -> Document? { nil }
}

struct AdministrationTests {
  private let open = "rules_version = '2'; service cloud.firestore { match /{a=**} { allow read: if true; } }"

  @Test func `rules of one product are replaced, and the rules of the others stay`() async throws {
    let rules: any RulesAdministration = try ProjectRules(RulesSources(database: .text(#"{"rules": {".read": true}}"#)))
    #expect(rules.rulesInForce(of: .firestore) == nil)
    _ = try await rules.replaceRules(with: open, of: .firestore)
    #expect(rules.rulesInForce(of: .firestore) == open)
    #expect(rules.rulesInForce(of: .database) == #"{"rules": {".read": true}}"#)
    #expect(rules.rulesInForce(of: .storage) == nil)
  }

  @Test func `rules that do not compile are refused with their places, and change nothing`() async throws {
    let rules = try ProjectRules(RulesSources(firestore: .text(open)))
    for (product, text) in [(RuledProduct.firestore, "service {"), (.storage, "service {"), (.database, "{")] {
      let refusal = await #expect(throws: RulesRefusal.self) {
        _ = try await rules.replaceRules(with: text, of: product)
      }
      #expect(refusal?.remarks.contains(where: \.isError) == true)
      #expect(refusal?.description.isEmpty == false)
    }
    #expect(rules.rulesInForce(of: .firestore) == open)
  }

  @Test func `the rules in force are the compiled ones, whatever happens to their file`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "firestore.rules")
      try Data(open.utf8).write(to: file)
      let rules = try ProjectRules(RulesSources(firestore: .file(file.path)))
      try Data("service {".utf8).write(to: file)
      #expect(rules.rulesInForce(of: .firestore) == open)
    }
  }

  @Test func `rules that explain themselves say why they deny, and count each decision once`() async throws {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{d}/documents/{all=**} {
        allow get: if get(/databases/$(d)/documents/a/b).data.n == 1;
      } }
      """
    let rules = try ProjectRules(RulesSources(firestore: .text(source)), reporting: RulesReporting(isOn: true))
    let guardian = FirestoreRulesGuard(rules.firestore, rules.firestoreReports)
    func get() async throws -> Bool {
      try await guardian.mayGet(
        "projects/p/databases/(default)/documents/c/d", nil, state: NoDocuments(), at: Timestamp(seconds: 1),
        context: CallContext())
    }
    let denial = await #expect(throws: FirestoreServiceError.self) { _ = try await get() }
    #expect(denial?.code == .permissionDenied && denial?.message.hasSuffix("for 'get' @ L3") == true)
    _ = try? await get()
    #expect(rules.coverage(of: .firestore, as: .json)?.contains(#""count":2"#) == true)
    #expect(rules.coverage(of: .firestore, as: .lcov)?.contains("BRDA:3,") == true)
    // New rules are counted anew, and rules that are refused change no count.
    await #expect(throws: RulesRefusal.self) { _ = try await rules.replaceRules(with: "x", of: .firestore) }
    #expect(rules.coverage(of: .firestore, as: .json)?.contains(#""count":2"#) == true)
    _ = try await rules.replaceRules(with: open, of: .firestore)
    #expect(rules.coverage(of: .firestore, as: .json)?.contains("count") == false)
    #expect(try ProjectRules(RulesSources(firestore: .text(open))).coverage(of: .firestore, as: .json) == nil)
  }

  @Test func `outcomes of the rules of the Realtime Database are counted once for each decision`() async throws {
    let source = #"{"rules": {"a": {".read": "root.child('b').child(data.child('c').val()).exists()"}}}"#
    let rules = try ProjectRules(RulesSources(database: .text(source)), reporting: RulesReporting(isOn: true))
    let guardian = DatabaseRulesGuard(rules.database, rules.databaseReports)
    let root = DatabaseNode(children: [
      ("a", DatabaseNode(children: [("c", DatabaseNode(.string("d")))])),
      ("b", DatabaseNode(children: [("d", DatabaseNode(.bool(true)))])),
    ])
    for _ in 0..<3 {
      // Two nodes are read, one after the other: the decision is made three times.
      #expect(
        try await guardian.mayRead(
          DatabaseGuardedRead("a", .all, at: 5), state: DatabaseNodeState(root), context: CallContext()))
    }
    #expect(rules.coverage(of: .database, as: .lcov)?.contains("BRDA:1,0,0,3") == true)
    #expect(rules.coverage(of: .database, as: .page)?.contains("true: 3") == true)
    #expect(rules.coverage(of: .database, as: .json)?.contains(#""boolValue":true},"count":3"#) == true)
    _ = try await rules.replaceRules(with: #"{"rules": {"a": {".read": "now > 1"}}}"#, of: .database)
    #expect(rules.coverage(of: .database, as: .lcov)?.contains("BRDA:1,0,0,-") == true)
    #expect(try ProjectRules(RulesSources(database: .text(source))).coverage(of: .database, as: .json) == nil)
  }

  @Test func `outcomes of the rules of Storage are counted`() async throws {
    let source = storage("request.auth == null")
    let rules = try ProjectRules(RulesSources(storage: .text(source)), reporting: RulesReporting(isOn: true))
    let guardian = StorageRulesGuard(rules.storage, rules.storageReports)
    for _ in 0..<2 {
      let request = StorageGuardedOperation.get(ObjectName(bucket: "b", name: "o"), existing: nil)
      #expect(try await guardian.allows(request, at: 1, context: CallContext()))
    }
    #expect(rules.coverage(of: .storage, as: .json)?.contains(#""count":2"#) == true)
    #expect(rules.coverage(of: .storage, as: .lcov)?.contains("SF:storage.rules") == true)
    #expect(rules.coverage(of: .firestore, as: .json)?.contains("count") != true)
    #expect(try ProjectRules(RulesSources(storage: .text(source))).coverage(of: .storage, as: .json) == nil)
  }

  @Test func `a denial by rules of Storage that explain themselves is logged with its line`() async throws {
    struct Sink: LogSink {
      let lines = Log<String>()
      func write(_ entry: LogEntry) {
        if entry.code == "I-RUL000002", entry.message.contains("denied/o") { lines.add(entry.message) }
      }
    }
    let sink = Sink()
    VestaConfiguration.shared.setLogSink(sink)
    VestaConfiguration.shared.setLoggerLevel(.info)
    defer {
      VestaConfiguration.shared.setLoggerLevel(.notice)
      VestaConfiguration.shared.setLogSink(StandardErrorSink())
    }
    let source = "rules_version = '2';\nservice firebase.storage {\n match /{a=**} {\n allow read: if false;\n} }"
    let request = StorageGuardedOperation.get(ObjectName(bucket: "b", name: "denied/o"), existing: nil)
    for isOn in [false, true] {
      let rules = try ProjectRules(RulesSources(storage: .text(source)), reporting: RulesReporting(isOn: isOn))
      let guardian = StorageRulesGuard(rules.storage, rules.storageReports)
      #expect(try await !guardian.allows(request, at: 1, context: CallContext()))
    }
    #expect(
      sink.lines.entries == ["The rules of Storage deny gs://b/denied/o:\nfalse for 'get' @ L4"])
  }

  private func storage(_ condition: String) -> String {
    "rules_version = '2'; service firebase.storage { match /{a=**} { allow read: if \(condition); } }"
  }

  @Test func `rules of buckets are replaced together, and a bucket that is not named then denies everything`()
    async throws
  {
    let rules = try ProjectRules(
      RulesSources(storage: .text(storage("true")), named: [.storage: ["shut": .text(storage("false"))]]))
    let guardian = ScopedStorageGuard(rules: rules) { StorageRulesGuard($0.storage, $0.storageReports) }
    func allowed() async throws -> [Bool] {
      var allowed: [Bool] = []
      for bucket in ["shut", "a", "b", "other"] {
        allowed.append(
          try await guardian.allows(
            .get(ObjectName(bucket: bucket, name: "o"), existing: nil), at: 1, context: CallContext()))
      }
      return allowed
    }
    #expect(try await allowed() == [false, true, true, true])
    _ = try await rules.replaceRules(ofBuckets: ["a": storage("true"), "b": storage("false")], others: nil)
    #expect(try await allowed() == [false, true, false, false])
    #expect(rules.rulesInForce(of: .storage, scope: "b") == storage("false"))
    #expect(rules.rulesInForce(of: .storage, scope: "other") == nil)
    for (buckets, others) in [(["a": storage("false"), "b": "service {"], nil), (["a": storage("false")], "x")] {
      let refusal = await #expect(throws: RulesRefusal.self) {
        _ = try await rules.replaceRules(ofBuckets: buckets, others: others)
      }
      #expect(refusal?.remarks.contains(where: \.isError) == true)
      #expect(try await allowed() == [false, true, false, false])
    }
    _ = try await rules.replaceRules(with: storage("true"), of: .storage, scope: "b")
    #expect(try await allowed() == [false, true, true, false])
    // A bucket that is named later has its own rules, and the others are denied as before.
    _ = try await rules.replaceRules(with: storage("true"), of: .storage, scope: "other")
    #expect(try await allowed() == [false, true, true, true] && rules.rules(of: .storage, scope: "c") == nil)
    _ = try await rules.replaceRules(ofBuckets: [:], others: storage("true"))
    #expect(try await allowed() == [true, true, true, true])
    _ = try await rules.replaceRules(ofBuckets: ["a": storage("true")], others: nil)
    _ = try await rules.replaceRules(with: storage("true"), of: .storage)
    #expect(try await allowed() == [true, true, true, true])
  }

  @Test func `warnings are returned`() async throws {
    let rules = try ProjectRules()
    let source = """
      rules_version = '2';
      service cloud.firestore { match /a/{b} { allow read: if nothing.x; } }
      """
    let remarks = try await rules.replaceRules(with: source, of: .firestore)
    #expect(remarks.contains { !$0.isError && $0.place?.line == 2 })
  }
}
