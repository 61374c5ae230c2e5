import Dispatch
import VestaAuthInterop
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// Users that sign in and out at known times: listeners have been called when `signIn` returns.
final class EverydayAuth: AuthInterop {
  /// The closure in a separate structure, as `Locked` requires.
  private struct Listener: Sendable {
    let receive: @Sendable (AuthTokenChange) -> Void
  }

  private struct State {
    var user: String?
    var listeners: [Int: Listener] = [:]
    var next = 0

    var change: AuthTokenChange { user.map { AuthTokenChange(userID: $0, token: "token") } ?? .signedOut }
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "everyday-auth")

  func signIn(_ user: String?) {
    queue.sync {
      let (change, listeners) = state.withLock { state in
        state.user = user
        return (state.change, state.listeners.sorted { $0.key < $1.key }.map(\.value))
      }
      for listener in listeners { listener.receive(change) }
    }
  }

  func getToken(forcingRefresh: Bool) async throws -> String? { nil }

  func getUserID() -> String? { state.withLock { $0.user } }

  func addTokenListener(_ listener: @escaping @Sendable (AuthTokenChange) -> Void) -> ListenerRegistration {
    let id = state.withLock { state in
      state.next += 1
      state.listeners[state.next] = Listener(receive: listener)
      return state.next
    }
    queue.async { [state] in
      let (change, isThere) = state.withLock { ($0.change, $0.listeners[id] != nil) }
      if isThere { listener(change) }
    }
    return ListenerRegistration { [state] in state.withLock { $0.listeners[id] = nil } }
  }
}

/// A process of a client, which can be killed: from then on none of its rows is written, and no call is answered.
final class EverydayProcess: Sendable {
  private struct State {
    var random: SplitMix
    var isDead = false
    /// Every which response ends its call; zero for none.
    var breaks = 0
  }

  private let state: Locked<State>

  init(seed: UInt64) { state = Locked(State(random: SplitMix(seed: seed))) }

  func kill() { state.withLock { $0.isDead = true } }
  func setBreaks(_ breaks: Int) { state.withLock { $0.breaks = breaks } }
  var isDead: Bool { state.withLock { $0.isDead } }

  /// Waits for a moment, as a network or a disk does; throws when the connection breaks.
  func pass() async throws {
    let yields = state.withLock { $0.random.oneIn(3) ? $0.random.below(40) : 0 }
    for _ in 0..<yields { await Task.yield() }
    let isBroken = state.withLock { $0.isDead || $0.breaks > 0 && $0.random.oneIn($0.breaks) }
    if isBroken { throw FirestoreServiceError(.unavailable, "The connection is lost.") }
  }
}

/// A store whose calls take a moment, and whose rows end with its process.
final class EverydayStore: OrderedStore {
  private let store: ModelStore
  private let process: EverydayProcess

  init(_ store: ModelStore, _ process: EverydayProcess) { (self.store, self.process) = (store, process) }

  private func pass() async throws {
    for _ in 0..<3 { await Task.yield() }
    if process.isDead { throw StoreError(.closed, operation: "use", message: "The process has been killed.") }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await pass()
    return try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try await pass()
    let process = process
    return try await store.write { transaction in
      let result = try await body(transaction)
      if process.isDead { throw StoreError(.closed, operation: "write", message: "The process has been killed.") }
      return result
    }
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws {}
}

/// A backend behind a network that is slow at random, and whose connections break.
final class EverydayBackend: ForwardingFirestoreBackend {
  private let engine: any FirestoreBackend
  private let process: EverydayProcess

  init(_ engine: any FirestoreBackend, _ process: EverydayProcess) { (self.engine, self.process) = (engine, process) }

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

  private func relayed<Request, Response>(_ call: DuplexCall<Request, Response>) -> DuplexCall<Request, Response> {
    let (responses, outgoing) = AsyncThrowingStream.makeStream(of: [Response].self, throwing: (any Error).self)
    let (requests, incoming) = AsyncStream.makeStream(of: Request.self)
    let process = process
    let sender = Task {
      for await request in requests {
        do { try await process.pass() } catch { return outgoing.finish(throwing: error) }
        call.send(request)
      }
      call.finish()
    }
    let receiver = Task {
      do {
        for try await batch in call.responses {
          try await process.pass()
          outgoing.yield(batch)
        }
        outgoing.finish()
      } catch {
        outgoing.finish(throwing: error)
      }
    }
    outgoing.onTermination = { _ in
      incoming.finish()
      sender.cancel()
      receiver.cancel()
      call.cancel()
    }
    return DuplexCall(
      responses: responses, send: { incoming.yield($0) }, finish: { incoming.finish() },
      cancel: { outgoing.finish() })
  }

  private func pass() async throws(FirestoreServiceError) {
    do { try await process.pass() } catch { throw FirestoreServiceError(.unavailable, "The connection is lost.") }
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await pass()
    return relayed(try await engine.listen(database: database, context: context))
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await pass()
    return relayed(try await engine.write(database: database, context: context))
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await process.pass()
    try await engine.runQuery(request, context: context, receive: receive)
    try await process.pass()
  }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await pass()
    let response = try await engine.commit(request, context: context)
    try await pass()
    return response
  }
}
