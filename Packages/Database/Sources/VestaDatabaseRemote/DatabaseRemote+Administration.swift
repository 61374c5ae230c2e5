import VestaBytes
public import VestaDatabaseBackend
import VestaDatabaseWire
public import VestaServiceInterop
import VestaTransportInterop

// The administration, as the tools of Firebase's emulators call it. The service verifies that the caller is an owner.
extension DatabaseRemote {
  /// The databases that have data, in the order of their names; Firebase itself has no such list.
  public func databases(context: CallContext) async throws(DatabaseServiceError) -> [String] {
    let names: [String] = try await administrate(.get, "/.inspect/databases.json", of: mainDatabase, context) {
      answer in
      guard case .array(let databases) = try JSONValue(json: answer.body) else {
        throw BytesError(.malformed, "the list of databases is no array")
      }
      return databases.compactMap { $0.object?["name"]?.string }
    }
    return names.sorted()
  }

  /// The text of the rules in force for a database; `nil` where there are none.
  public func rules(of namespace: String, context: CallContext) async throws(DatabaseServiceError) -> String? {
    try await administrate(.get, Self.rulesPath, of: namespace, context) { answer in
      let text = String(decoding: answer.body, as: UTF8.self)
      return text == "null" ? nil : text
    }
  }

  /// Has rules compiled and changes nothing; the protocol has no warnings.
  public func checkRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    try await administrate(
      .put, Self.rulesPath, of: namespace, context, fields: ["dryRun": "true"], body: Array(source.utf8)
    ) { _ in [] }
  }

  /// Puts rules in force; the protocol has no warnings.
  public func setRules(
    _ source: String, of namespace: String, context: CallContext
  ) async throws(DatabaseServiceError) -> [RulesRemark] {
    try await administrate(.put, Self.rulesPath, of: namespace, context, body: Array(source.utf8)) { _ in [] }
  }

  /// Removes everything in a database.
  public func clear(_ namespace: String, context: CallContext) async throws(DatabaseServiceError) {
    try checkOwner(context)
    var call = DatabaseRESTCall(.put, .root, namespace: namespace)
    call.print = .silent
    _ = try await reply(to: call, body: NodeWire.bytes(of: .empty), context: context)
  }

  /// Returns everything in a database, in parts; it is read by one request, at one version.
  public func export(
    _ namespace: String, context: CallContext,
    to receive: @escaping @Sendable ([DatabaseRow]) async throws -> Void
  ) async throws(DatabaseServiceError) {
    try checkOwner(context)
    var call = DatabaseRESTCall(.get, .root, namespace: namespace)
    call.isExport = true
    var rows = try await reply(to: call, context: context).node.rows()[...]
    do {
      while !rows.isEmpty {
        try await receive(Array(rows.prefix(tuning.exportRows)))
        rows = rows.dropFirst(tuning.exportRows)
      }
    } catch {
      throw channel(to: namespace).failure(error)
    }
  }

  /// Replaces everything in a database; it is written by one request, all or nothing.
  public func `import`(
    _ namespace: String, context: CallContext, from next: @escaping @Sendable () async throws -> [DatabaseRow]?
  ) async throws(DatabaseServiceError) {
    try checkOwner(context)
    var rows: [DatabaseRow] = []
    do {
      while let more = try await next() { rows += more }
    } catch {
      throw channel(to: namespace).failure(error)
    }
    var call = DatabaseRESTCall(.put, .root, namespace: namespace)
    call.print = .silent
    call.writeSizeLimit = .unlimited
    var context = context
    context.suppressesEvents = true
    _ = try await reply(to: call, body: NodeWire.bytes(of: DatabaseNode(rows: rows)), context: context)
  }

  // MARK: Calling

  private static let rulesPath = "/.settings/rules.json"

  /// The database that every project has, for calls that are about all of them.
  private var mainDatabase: String { "\(project)-default-rtdb" }

  private func administrate<Value>(
    _ method: HTTPMethod, _ path: String, of namespace: String, _ context: CallContext,
    fields more: KeyValuePairs<String, String> = [:], body: [UInt8] = [],
    _ decode: (RESTAnswer) throws -> Value
  ) async throws(DatabaseServiceError) -> Value {
    try checkOwner(context)
    var fields = FormFields()
    fields.append("ns", namespace)
    for (name, value) in more { fields.append(name, value) }
    let call = RESTCall(method, "\(path)?\(fields.text)", body: body)
    return try await channel(to: namespace).call(call, context: context, decode)
  }

  /// Refuses callers who are certainly no owners without asking the service, which could not verify a user of this
  /// process.
  private func checkOwner(_ context: CallContext) throws(DatabaseServiceError) {
    switch context.caller {
    case .owner, .credential: break
    case .nobody, .user: throw DatabaseServiceError(.permissionDenied, "Owners alone administrate databases.")
    }
  }
}
