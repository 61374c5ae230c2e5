import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

struct ContractTests {
  @Test(.timeLimit(.minutes(20)), arguments: DatabaseContracts.all)
  func `the engine keeps what a backend promises`(contract: Contract<DatabaseSubject>) async throws {
    try await contract.verify(DatabaseSubject(DatabaseEngine(store: ModelStore())))
  }

  @Test(.timeLimit(.minutes(20)), arguments: Flaw.allCases)
  func `a backend with a flaw breaks a promise`(flaw: Flaw) async {
    let outcomes = await DatabaseContracts.all.run {
      DatabaseSubject(FlawedBackend(backend: DatabaseEngine(store: ModelStore()), flaw: flaw))
    }
    #expect(outcomes.contains { !$0.isKept }, "\(flaw)")
  }
}

/// The flaws that a backend can have without coming to a halt.
enum Flaw: CaseIterable {
  case ignoresHashes
  case splitsMerges
  case repliesTwice
  case staysSilentOnHello
  case listensOn
  case forgetsEndOperations
  case keepsCancelledEndOperations
  case closesTwice
  case sendsDataTwice
  case includesExcludedBounds
  case losesMergesOfQueries
  case carriesOutWhatComesAfterTheEnd
  case opensForAnyCredential
  case signsInWithAnyCredential
  case readsForAnyCredential
  case mergesOnAnything
  case readsNoKeys
  case hidesWhatIsThere
}

/// A backend that does one thing wrong.
struct FlawedBackend: DatabaseBackend {
  let backend: any DatabaseBackend
  let flaw: Flaw

  func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let flaw = flaw
    var request = request
    if flaw == .opensForAnyCredential { request.context = CallContext() }
    if flaw == .hidesWhatIsThere { request.wantsNodes = false }
    let connection = backend.connect(request) { message in
      switch (flaw, message) {
      case (.staysSilentOnHello, .hello): return
      case (.losesMergesOfQueries, .merge(let path, let values, .some(let tag))):
        // Only the last of the changes arrives.
        guard let last = values.last else { return }
        return receive(.data(path.appending(last.path), last.node, tag: tag))
      case (.repliesTwice, .reply), (.closesTwice, .closed): receive(message)
      default: break
      }
      receive(message)
    }
    let spare = flaw == .carriesOutWhatComesAfterTheEnd ? backend.connect(request) { _ in } : nil
    return FlawedConnection(connection: connection, spare: spare, flaw: flaw)
  }
}

extension FlawedBackend {
  func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult {
    var request = request
    if flaw == .readsNoKeys { request.depth = .all }
    return try await backend.read(request, context: flaw == .readsForAnyCredential ? CallContext() : context)
  }

  func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode {
    guard flaw == .hidesWhatIsThere else { return try await backend.write(request, context: context) }
    return try await replyOnce(to: request.request, in: request.namespace, context: context).node
  }
}

/// A connection that does one thing wrong.
final class FlawedConnection: DatabaseConnection {
  private let connection: any DatabaseConnection
  private let spare: (any DatabaseConnection)?
  private let flaw: Flaw
  private let isClosed = Locked(false)

  init(connection: any DatabaseConnection, spare: (any DatabaseConnection)?, flaw: Flaw) {
    self.connection = connection
    self.spare = spare
    self.flaw = flaw
  }

  func send(_ request: DatabaseRequest, id: Int) {
    switch (flaw, request) {
    case (.ignoresHashes, .put(let path, let node, .some)): connection.send(.put(path, node, hash: nil), id: id)
    case (.signsInWithAnyCredential, .authenticate): connection.send(.stats([:]), id: id)
    case (.mergesOnAnything, .merge(let path, let values, .some)): connection.send(.merge(path, values), id: id)
    case (.splitsMerges, .merge(let path, let values, _)):
      for (index, value) in values.enumerated() {
        let isLast = index == values.count - 1
        connection.send(.put(path.appending(value.path), value.node, hash: nil), id: isLast ? id : id + 1000 + index)
      }
    case (.listensOn, .unlisten): connection.send(.stats([:]), id: id)
    case (.forgetsEndOperations, .onDisconnectPut): connection.send(.stats([:]), id: id)
    case (.keepsCancelledEndOperations, .onDisconnectCancel): connection.send(.stats([:]), id: id)
    case (.sendsDataTwice, .put):
      // The write is carried out twice: what the service fills in is filled in twice.
      connection.send(request, id: id + 5000)
      connection.send(request, id: id)
    case (.includesExcludedBounds, .get(let path, var spec)):
      spec.start?.isInclusive = true
      spec.end?.isInclusive = true
      connection.send(.get(path, spec), id: id)
    default:
      if isClosed.withLock({ $0 }) { spare?.send(request, id: id) } else { connection.send(request, id: id) }
    }
  }

  func close() {
    isClosed.withLock { $0 = true }
    connection.close()
  }
}
