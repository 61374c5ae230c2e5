import VestaBytes
public import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEngineInterop
public import VestaServiceInterop
import VestaStoreInterop

extension DatabaseEngine: DatabaseAdminBackend {
  /// The databases that have data.
  public func databases(context: CallContext) async throws(DatabaseServiceError) -> [String] {
    try await administrate(context) { [frame] _ in
      try await frame.store().read { reader in try await Keys.namespaces(reader) }
    }
  }

  // MARK: Rules

  /// The text of the rules in force.
  public func rules(of namespace: String, context: CallContext) async throws(DatabaseServiceError) -> String? {
    try await administrate(context) { [options] _ in options.rules?.rulesInForce(of: .database, scope: namespace) }
  }

  /// Compiles rules and changes nothing.
  public func checkRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    try await compileRules(context) { rules throws(RulesRefusal) in try await rules.checkRules(source, of: .database) }
  }

  /// Puts rules in force, and declares their indexes in all open databases; the others do it when they are opened.
  public func setRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    let warnings = try await compileRules(context) { rules throws(RulesRefusal) in
      try await rules.replaceRules(with: source, of: .database, scope: namespace)
    }
    for room in openRooms { await room.declareIndexesAgain() }
    return warnings
  }

  private func compileRules(
    _ context: CallContext,
    _ compile: @escaping @Sendable (any RulesAdministration) async throws(RulesRefusal) -> [RulesRemark]
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    try await administrate(context) { [options] _ in
      guard let rules = options.rules else {
        throw DatabaseServiceError(.unimplemented, "This service has no rules: add a library of rules.")
      }
      do throws(RulesRefusal) {
        return try await compile(rules)
      } catch {
        throw DatabaseServiceError(.invalidArgument, error.description)
      }
    }
  }

  // MARK: Content

  /// Removes everything in a database.
  public func clear(_ namespace: String, context: CallContext) async throws(DatabaseServiceError) {
    try await administrate(context) { [self] context in
      _ = try await replyOnce(to: .put(.root, .empty, hash: nil), in: namespace, context: context)
    }
  }

  /// Gives everything in a database, from one snapshot.
  public func export(
    _ namespace: String, context: CallContext,
    to receive: @escaping @Sendable ([DatabaseRow]) async throws -> Void
  ) async throws(DatabaseServiceError) {
    try await administrate(context) { [frame, options] _ in
      let (keys, limit) = (Keys(namespace: namespace), options.tuning.transferRows)
      try await frame.store().read { reader in
        let prefix = keys.data(.root)
        var lower = prefix
        while true {
          var rows: [DatabaseRow] = []
          let range = KeyRange(from: lower, to: KeyRange(prefix: prefix).upper)
          _ = try await reader.scan(range, order: .ascending, limit: limit) { key, value in
            lower = key.bytes
            let path = DatabasePath(try PathCoding.decode(lower, from: prefix.count))
            let (leaf, priority) = try TreeReader.decode(value.bytes, at: path)
            rows.append(DatabaseRow(path, leaf, priority: priority))
            return .next
          }
          if !rows.isEmpty { try await receive(rows) }
          guard rows.count == limit else { return }
          lower.append(0)
        }
      }
    }
  }

  /// Replaces everything in a database, by merges of a bounded size.
  public func `import`(
    _ namespace: String, context: CallContext, from next: @escaping @Sendable () async throws -> [DatabaseRow]?
  ) async throws(DatabaseServiceError) {
    try await administrate(context) { [self] context in
      var context = context
      context.suppressesEvents = true
      func write(_ request: DatabaseRequest) async throws {
        _ = try await replyOnce(to: request, in: namespace, context: context)
      }
      try await write(.put(.root, .empty, hash: nil))
      var machine = ImportMachine(rows: options.tuning.transferRows, bytes: options.tuning.transferBytes)
      while let rows = try await next() {
        for row in rows { if let batch = machine.add(row) { try await write(.merge(.root, batch)) } }
      }
      for batch in machine.finish() { try await write(.merge(.root, batch)) }
    }
  }

  /// Runs a call of an owner.
  private func administrate<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (CallContext) async throws -> Result
  ) async throws(DatabaseServiceError) -> Result {
    try await frame.serve(context) { context in
      guard context.isOwner else { throw DatabaseServiceError(.permissionDenied, "Permission denied") }
      return try await body(context)
    }
  }
}

extension Keys {
  /// The namespaces that have data, in order; a read for each.
  static func namespaces(_ reader: any StoreReader) async throws -> [String] {
    var names: [String] = []
    var lower: [UInt8] = [1]
    while let key = try await reader.firstKey(in: KeyRange(from: lower, to: [2])) {
      var decoder = KeyDecoder(key, from: 1)
      let name = try decoder.string()
      names.append(name)
      guard let next = KeyRange(prefix: Keys(namespace: name).data(.root)).upper else { break }
      lower = next
    }
    return names
  }
}
