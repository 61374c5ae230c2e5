import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The administration of databases, rules that declare indexes, and the changes of which functions are not notified.
@Suite struct AdministrationTests {
  private func engine(
    _ rules: (any RulesAdministration)? = FakeRulesAdministration(), transferRows: Int = 3,
    transferBytes: Int = 1 << 20, gatekeeper: (any DatabaseGuard)? = nil, store: ModelStore = ModelStore()
  ) -> DatabaseEngine {
    var options = DatabaseServiceOptions()
    (options.rules, options.gatekeeper) = (rules, gatekeeper)
    options.tuning.transferRows = transferRows
    options.tuning.transferBytes = transferBytes
    return DatabaseEngine(store: store, options: options, callers: CallerCheck(callers: ReadingCallerVerifier()))
  }

  @Test(arguments: DatabaseAdminContracts.all)
  func `the engine keeps what an administration promises`(_ contract: Contract<DatabaseAdminSubject>) async throws {
    for (rows, bytes) in [(1, 1 << 20), (2, 1 << 20), (1_000, 100), (1_000, 1 << 20)] {
      let engine = engine(transferRows: rows, transferBytes: bytes)
      try await contract.verify(DatabaseAdminSubject(engine, admin: engine))
    }
  }

  @Test(arguments: AdminFlaw.allCases)
  func `an administration with a flaw breaks a promise`(_ flaw: AdminFlaw) async {
    let outcomes = await DatabaseAdminContracts.all.run {
      let engine = engine()
      return DatabaseAdminSubject(engine, admin: FlawedAdministration(engine: engine, flaw: flaw))
    }
    #expect(outcomes.contains { !$0.isKept }, "\(flaw)")
  }

  @Test func `random trees survive an export and an import, whatever the parts are`() async throws {
    for seed in 0..<40 {
      var random = SplitMix(seed: UInt64(seed))
      let node = random.node(depth: 4)
      let engine = engine(
        transferRows: Int.random(in: 1...9, using: &random),
        transferBytes: Int.random(in: 1...2_000, using: &random))
      let rows = Locked(node.rows())
      try await engine.import("a", context: .owner) {
        rows.withLock { rows in
          if rows.isEmpty { return nil }
          defer { rows = Array(rows.dropFirst(5)) }
          return Array(rows.prefix(5))
        }
      }
      let exported = Log<DatabaseRow>()
      try await engine.export("a", context: .owner) { for row in $0 { exported.add(row) } }
      #expect(exported.entries == node.rows(), "seed \(seed)")
    }
  }

  @Test func `an export has one version, whatever is written during it`() async throws {
    let engine = engine(transferRows: 1)
    @Sendable func write(_ number: Int64) async throws {
      let values = ["a", "b", "c"].map { DatabasePathValue(DatabasePath($0), DatabaseNode(.int(number))) }
      _ = try await engine.write(DatabaseWriteRequest(namespace: "n", path: .root, .merge(values)), context: .owner)
    }
    try await write(1)
    let exported = Log<DatabaseLeaf?>()
    try await engine.export("n", context: .owner) { rows in
      for row in rows { exported.add(row.leaf) }
      try await write(Int64(exported.entries.count) + 1)
    }
    #expect(exported.entries == [.int(1), .int(1), .int(1)])
  }

  @Test func `the indexes of rules are declared when they take effect, and removed when they no longer apply`()
    async throws
  {
    let rules = FakeRulesAdministration()
    let engine = engine(rules)
    let tree = DatabaseNode(children: [
      ("x", DatabaseNode(children: [("size", DatabaseNode(.int(2)))])),
      ("y", DatabaseNode(children: [("size", DatabaseNode(.int(1)))])),
    ])
    _ = try await engine.write(DatabaseWriteRequest(namespace: "n", path: "rooms", .put(tree)), context: .owner)
    var spec = DatabaseQuerySpec()
    (spec.index, spec.limit) = (.child("size"), .init(1, .first))
    let query = DatabaseReadRequest(namespace: "n", path: "rooms", spec: spec, requiresIndex: true)
    func first() async throws -> DatabaseKey? {
      var first: DatabaseKey?
      try await engine.read(query, context: .owner).node.forEachChild { key, _ in first = first ?? key }
      return first
    }
    await #expect(throws: DatabaseServiceError.self) { try await first() }
    let text = """
      { /* With a comment, // twice. */ "rules": { "rooms": { ".indexOn": ["size"], // and one with "quotes"
        ".read": "auth.url == 'http://x/*'" } } }
      """
    _ = try await engine.setRules(text, of: "n", context: .owner)
    #expect(try await first() == "y")
    await engine.settle()
    #expect(try await first() == "y")
    _ = try await engine.setRules(#"{"rules": {}}"#, of: "n", context: .owner)
    await #expect(throws: DatabaseServiceError.self) { try await first() }
    // Rules whose indexes cannot be read declare none, and the others stay as they are.
    _ = try await engine.setRules("nonsense", of: "n", context: .owner)
    await #expect(throws: DatabaseServiceError.self) { try await first() }
  }

  @Test func `rules that others replace declare their indexes as well`() async throws {
    let (rules, guardian) = (FakeRulesAdministration(), ManualDatabaseGuard())
    let engine = engine(rules, gatekeeper: guardian)
    let query = DatabaseReadRequest(
      namespace: "n", path: "rooms", spec: DatabaseQuerySpec(index: .value, limit: .init(1, .first)),
      requiresIndex: true)
    await #expect(throws: DatabaseServiceError.self) { try await engine.read(query, context: .owner) }
    _ = try await rules.replaceRules(with: #"{"rules": {"rooms": {".indexOn": ".value"}}}"#, of: .database)
    guardian.change { _ in true }
    await engine.settle()
    _ = try await engine.read(query, context: .owner)
  }
}

/// The flaws that an administration can have.
enum AdminFlaw: CaseIterable {
  case listsEmptyDatabases, losesPriorities, keepsOldData, clearsNothing, clearsEverything, believesEverybody
  case setsWrongRules, checksBySetting, forgetsRules, hidesErrors, exportsInWrongOrder
}

/// An administration that does one thing wrong.
struct FlawedAdministration: DatabaseAdminBackend {
  let engine: DatabaseEngine
  let flaw: AdminFlaw

  private func context(_ context: CallContext) -> CallContext { flaw == .believesEverybody ? .owner : context }

  func databases(context: CallContext) async throws(DatabaseServiceError) -> [String] {
    try await engine.databases(context: self.context(context)) + (flaw == .listsEmptyDatabases ? ["none"] : [])
  }

  func rules(of namespace: String, context: CallContext) async throws(DatabaseServiceError) -> String? {
    flaw == .forgetsRules ? nil : try await engine.rules(of: namespace, context: self.context(context))
  }

  func checkRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    if flaw == .checksBySetting {
      return try await engine.setRules(source, of: namespace, context: self.context(context))
    }
    return try await engine.checkRules(source, of: namespace, context: self.context(context))
  }

  func setRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    let source = flaw == .setsWrongRules && source.isEmpty ? "wrong" : source
    return try await engine.setRules(source, of: namespace, context: self.context(context))
  }

  func clear(_ namespace: String, context: CallContext) async throws(DatabaseServiceError) {
    // A part is left, so that listeners are notified all the same.
    if flaw == .clearsNothing {
      let request = DatabaseWriteRequest(namespace: namespace, path: "a", .put(.empty))
      return _ = try await engine.write(request, context: context)
    }
    try await engine.clear(namespace, context: self.context(context))
    guard flaw == .clearsEverything else { return }
    for name in try await engine.databases(context: .owner) { try await engine.clear(name, context: .owner) }
  }

  func export(
    _ namespace: String, context: CallContext, to receive: @escaping @Sendable ([DatabaseRow]) async throws -> Void
  ) async throws(DatabaseServiceError) {
    let flaw = flaw
    let all = Log<DatabaseRow>()
    try await engine.export(namespace, context: self.context(context)) { rows in
      if flaw == .exportsInWrongOrder { return rows.forEach { all.add($0) } }
      if flaw == .hidesErrors {
        do { try await receive(rows) } catch {}
        return
      }
      try await receive(flaw == .losesPriorities ? rows.map { DatabaseRow($0.path, $0.leaf) } : rows)
    }
    if flaw == .exportsInWrongOrder { try? await receive(all.entries.reversed()) }
  }

  func `import`(
    _ namespace: String, context: CallContext, from next: @escaping @Sendable () async throws -> [DatabaseRow]?
  ) async throws(DatabaseServiceError) {
    guard flaw == .keepsOldData, context.isOwner else {
      return try await engine.import(namespace, context: self.context(context), from: next)
    }
    while let rows = try? await next() {
      let values = rows.compactMap { row in
        row.leaf.map { DatabasePathValue(row.path, DatabaseNode($0, priority: row.priority)) }
      }
      _ = try await engine.write(
        DatabaseWriteRequest(namespace: namespace, path: .root, .merge(values)), context: context)
    }
  }
}
