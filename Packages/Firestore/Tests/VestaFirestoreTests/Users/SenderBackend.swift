import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreService
import VestaFirestoreSync
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestore

/// An engine that notes by whose token each document is written.
final class SenderBackend: ForwardingFirestoreBackend {
  struct Sent: Sendable, Hashable {
    let document: String
    /// The user of the token; `nil` for none.
    let user: String?
  }

  private let engine = FirestoreEngine(store: ModelStore())
  private let holdsNext = Locked(false)
  /// The writes, in the order in which they were sent.
  let sent = Log<Sent>()
  /// Calls that write pass it.
  let writes = Gate(isOpen: true)
  /// The read that `holdNextRead()` holds passes it.
  let held = Gate()

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

  /// Holds the next read of documents at the gate.
  func holdNextRead() { holdsNext.withLock { $0 = true } }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    let isHeld = holdsNext.withLock { holds in
      defer { holds = false }
      return holds
    }
    if isHeld { await held.wait() }
    try await engine.batchGet(request, context: CallContext(), receive: receive)
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await engine.runQuery(request, context: CallContext(), receive: receive)
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await engine.listen(database: database, context: CallContext())
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    await writes.wait()
    var user: String?
    if case .credential(let credential) = context.caller { user = credential.token }
    let call = try await engine.write(database: database, context: CallContext())
    return WriteCall(
      responses: call.responses,
      send: { [sent, user] request in
        for write in request.writes {
          sent.add(Sent(document: write.name.split(separator: "/").last.map(String.init) ?? "", user: user))
        }
        call.send(request)
      }, finish: { call.finish() }, cancel: { call.cancel() })
  }

  /// A client that follows an Auth.
  func client(_ auth: LateAuth, _ store: any OrderedStore, _ link: BackendLink) -> SyncClient {
    var options = SyncOptions()
    options.link = link
    if link == .remote { options.garbagePolicy = .leastRecentlyUsed(bytes: nil) }
    options.user = auth.getUserID()
    options.context = { refreshes in
      let token = try await auth.getToken(forcingRefresh: refreshes)
      return CallContext(caller: token.map { .credential(.idToken($0)) } ?? .nobody)
    }
    let client = SyncClient(
      database: DatabaseName(project: "demo"), backend: self, store: store, options: options)
    client.follow(auth)
    return client
  }
}

/// A write of one document that counts how often it was applied.
func counted(_ document: String) -> Mutation {
  let once = Mutation.Transform(VestaFirestoreModel.FieldPath(["n"]), .increment(.integer(1)))
  return Mutation(notePath(document), .patch([:], mask: FieldMask([])), transforms: [once])
}

/// The path of a note.
func notePath(_ document: String) -> ResourcePath { ResourcePath(splitting: "notes/\(document)") }
