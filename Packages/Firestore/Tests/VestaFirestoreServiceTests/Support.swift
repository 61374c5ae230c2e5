import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreService
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

let database = "projects/p/databases/(default)"
let root = database + "/documents"
let owner = CallContext(caller: .owner)

extension ManualClock {
  /// The clock as a store reads it.
  var ofStore: StoreClock { StoreClock { StoreTime(wall: self.now, steady: nil) } }

  func advance(seconds: Int64) { advance(by: .seconds(seconds)) }
}

/// An engine that makes an index as soon as a query lacks it.
func makeEngine(
  _ clock: ManualClock = ManualClock(), _ change: (inout FirestoreServiceOptions) -> Void = { _ in }
) -> FirestoreEngine {
  var options = FirestoreServiceOptions()
  options.clock = clock.service
  options.automaticIndexUses = 1
  options.automaticIndexesPerCollection = 1000
  change(&options)
  return FirestoreEngine(store: ModelStore(clock: clock.ofStore), options: options)
}

/// An engine on a store, with the system's clock, that makes an index as soon as a query lacks it.
func makeEngine(
  on store: any OrderedStore, _ change: (inout FirestoreServiceOptions) -> Void = { _ in }
) -> FirestoreEngine {
  var options = FirestoreServiceOptions()
  options.takeTime()
  options.automaticIndexUses = 1
  options.automaticIndexesPerCollection = 1000
  change(&options)
  return FirestoreEngine(store: store, options: options)
}

extension FirestoreServiceOptions {
  /// Lets no transaction expire while a machine is busy: for engines with the system's clock.
  mutating func takeTime() {
    transactionIdleTime = .seconds(100_000)
    transactionLifetime = .seconds(100_000)
  }
}

func name(_ path: String) -> String { root + "/" + path }

func update(_ path: String, _ fields: MapValue, precondition: Precondition? = nil) -> Write {
  .update(Document(name: name(path), fields: fields), precondition: precondition)
}

extension FirestoreBackend {
  @discardableResult
  func commit(_ writes: Write..., in transaction: [UInt8]? = nil) async throws -> CommitResponse {
    try await commit(CommitRequest(database: database, writes: writes, transaction: transaction), context: owner)
  }

  func get(_ path: String, _ consistency: ReadConsistency = .latest) async throws -> Document? {
    var found: Document?
    let request = BatchGetDocumentsRequest(database: database, documents: [name(path)], consistency: consistency)
    try await batchGet(request, context: owner) { response in
      if case .found(let document)? = response.result { found = document }
    }
    return found
  }

  func query(_ query: StructuredQuery, _ consistency: ReadConsistency = .latest) async throws -> [Document] {
    var documents: [Document] = []
    let request = RunQueryRequest(parent: root, query: query, consistency: consistency)
    try await runQuery(request, context: owner) { if let document = $0.document { documents.append(document) } }
    return documents
  }

  func begin(_ options: TransactionOptions = .readWrite()) async throws -> [UInt8] {
    try await beginTransaction(BeginTransactionRequest(database: database, options: options), context: owner)
      .transaction
  }
}

extension StructuredQuery {
  static func all(_ collectionID: String) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: collectionID)])
  }
}

/// The failure of a call; `nil` when it succeeded.
func failure(_ body: () async throws -> Void) async -> FirestoreServiceError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? FirestoreServiceError
  }
}

/// The answer of a backend to a query: names and fields, or the code of its error.
func answer(_ backend: any FirestoreBackend, _ query: StructuredQuery) async -> String {
  do {
    return try await backend.query(query).map { "\($0.name) \($0.fields)" }.joined(separator: "\n")
  } catch {
    return "\((error as? FirestoreServiceError)?.code.description ?? "\(error)")"
  }
}
