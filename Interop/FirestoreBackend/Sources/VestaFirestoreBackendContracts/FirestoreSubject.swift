public import VestaFirestoreBackend
import VestaTesting

/// A backend that is held to its contract: without documents in the databases that the checks use.
public struct FirestoreSubject: Sendable {
  /// The backend.
  public let backend: any FirestoreBackend

  /// The time that a check waits for something that a call must send; after it the promise counts as broken.
  public let patience: Duration

  /// A backend.
  ///
  /// - Parameters:
  ///   - backend: Takes calls of owners.
  ///   - patience: How long a check waits for something that a call must send.
  public init(_ backend: any FirestoreBackend, patience: Duration = .seconds(300)) {
    self.backend = backend
    self.patience = patience
  }
}

// Helpers of all checks.
extension FirestoreSubject {
  var database: String { "projects/contracts/databases/(default)" }
  var root: String { database + "/documents" }
  var context: CallContext { CallContext(caller: .owner) }

  func name(_ path: String) -> String { root + "/" + path }

  func set(_ path: String, _ fields: MapValue = [:], precondition: Precondition? = nil) -> Write {
    .update(Document(name: name(path), fields: fields), precondition: precondition)
  }

  @discardableResult
  func commit(_ writes: Write..., in transaction: [UInt8]? = nil) async throws -> CommitResponse {
    try await backend.commit(
      CommitRequest(database: database, writes: writes, transaction: transaction), context: context)
  }

  func get(_ path: String, _ consistency: ReadConsistency = .latest) async throws -> Document? {
    try await get([path], consistency)[0]
  }

  /// The documents at paths, in the order of the paths.
  func get(_ paths: [String], _ consistency: ReadConsistency = .latest) async throws -> [Document?] {
    var found: [String: Document] = [:]
    let request = BatchGetDocumentsRequest(
      database: database, documents: paths.map(name), consistency: consistency)
    try await backend.batchGet(request, context: context) { response in
      if case .found(let document)? = response.result { found[document.name] = document }
    }
    return paths.map { found[name($0)] }
  }

  func query(_ query: StructuredQuery, _ consistency: ReadConsistency = .latest) async throws -> [Document] {
    var found: [Document] = []
    let request = RunQueryRequest(parent: root, query: query, consistency: consistency)
    try await backend.runQuery(request, context: context) { if let document = $0.document { found.append(document) } }
    return found
  }

  /// The identifiers of what a query finds, in order.
  func ids(_ query: StructuredQuery, _ consistency: ReadConsistency = .latest) async throws -> [String] {
    try await self.query(query, consistency).map { String($0.name.dropFirst(root.count + 1)) }
  }

  func begin(_ options: TransactionOptions = .readWrite()) async throws -> [UInt8] {
    try await backend.beginTransaction(
      BeginTransactionRequest(database: database, options: options), context: context
    ).transaction
  }

  func rollback(_ transaction: [UInt8]) async throws {
    try await backend.rollback(RollbackRequest(database: database, transaction: transaction), context: context)
  }
}

extension StructuredQuery {
  static func all(_ collectionID: String, where filter: Filter? = nil, by path: String? = nil) -> StructuredQuery {
    StructuredQuery(
      from: [.init(collectionID: collectionID)], filter: filter, orderBy: path.map { [.init(fieldPath: $0)] } ?? [])
  }
}

/// Expects a call to be refused with one of some codes.
@discardableResult
func expectRefusal<Result>(
  _ codes: ServiceCode..., of what: String, file: String = #fileID, line: Int = #line,
  _ body: () async throws -> Result
) async throws -> FirestoreServiceError {
  let error = try await expectThrows(FirestoreServiceError.self, what, file: file, line: line, body)
  try expect(codes.contains(error.code), "\(what): expected \(codes), found \(error)", file: file, line: line)
  return error
}
