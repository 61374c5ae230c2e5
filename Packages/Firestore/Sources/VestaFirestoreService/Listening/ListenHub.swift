import FirestoreInterop
import ListenerInterop
import StoreInterop
import VestaConcurrency

/// The listen calls of a database, and the one task that serves them all.
///
/// The task wakes for a commit and for a request. A turn reads the store at one moment: first all targets are brought to
/// it, then requests are served at the same moment. So no change can fall between, or come twice.
final class ListenHub: Sendable {
  private enum Request: Sendable {
    case listen(ListenRequest)
    case end
  }

  private struct State: Sendable {
    var calls: [WatchBook.CallID: AsyncThrowingStream<[ListenResponse], any Error>.Continuation] = [:]
    var requests: [(call: WatchBook.CallID, request: Request)] = []
    var lastCall = 0
    var wake: AsyncStream<Void>.Continuation?
    var observation: InteropRegistration?
  }

  /// How many batches a call may leave unread.
  private static let patience = 4096

  private let state = Locked(State())
  private let store: any OrderedStore
  private let read: @Sendable ((Snapshot) async throws -> Void) async throws -> Void

  init(store: any OrderedStore, read: @escaping @Sendable ((Snapshot) async throws -> Void) async throws -> Void) {
    self.store = store
    self.read = read
  }

  func open() -> ListenCall {
    let (responses, continuation) = AsyncThrowingStream.makeStream(
      of: [ListenResponse].self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(ListenHub.patience))
    let id = state.withLock { state in
      state.lastCall += 1
      state.calls[state.lastCall] = continuation
      return state.lastCall
    }
    continuation.onTermination = { _ in self.submit(.end, of: id) }
    start()
    return ListenCall(
      responses: responses,
      send: { self.submit(.listen($0), of: id) },
      finish: { continuation.finish() },
      cancel: { continuation.finish() }
    )
  }

  /// Tells the task that something has been committed.
  func wake() { state.withLock { $0.wake }?.yield() }

  /// Ends all calls.
  func close() {
    let (calls, wake, observation) = state.withLock { state in
      defer { state = State(lastCall: state.lastCall) }
      return (state.calls, state.wake, state.observation)
    }
    for call in calls.values { call.finish(throwing: FirestoreError(.unavailable, "The engine has been shut down.")) }
    observation?.cancel()
    wake?.finish()
  }

  private func submit(_ request: Request, of call: WatchBook.CallID) {
    let wake = state.withLock { state in
      guard state.calls[call] != nil else { return nil as AsyncStream<Void>.Continuation? }
      if case .end = request { state.calls[call] = nil }
      state.requests.append((call, request))
      return state.wake
    }
    wake?.yield()
  }

  /// Starts the task with the first call; it ends with the last one.
  private func start() {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let isFirst = state.withLock { state in
      guard state.wake == nil else { return false }
      state.wake = continuation
      return true
    }
    guard isFirst else { return }
    if let observable = store as? any CommitObservable {
      let observation = observable.observeCommits { _ in continuation.yield() }
      let isKept = state.withLock { state in
        guard state.wake != nil else { return false }
        state.observation = observation
        return true
      }
      if !isKept { observation.cancel() }
    }
    Task { await self.serve(signals) }
  }

  private func serve(_ signals: AsyncStream<Void>) async {
    var book = WatchBook()
    for await _ in signals {
      let requests = state.withLock { state in
        defer { state.requests = [] }
        return state.requests
      }
      do {
        try await read { snapshot in
          for (call, responses) in try await book.advance(to: snapshot) { self.send(responses, to: call) }
          for (call, request) in requests { try await self.serve(request, of: call, &book, snapshot) }
        }
      } catch {
        fail(FirestoreError(serving: error))
        return
      }
      if stopIfIdle() { return }
    }
  }

  private func serve(
    _ request: Request, of call: WatchBook.CallID, _ book: inout WatchBook, _ snapshot: Snapshot
  ) async throws {
    switch request {
    case .end: book.end(call)
    case .listen(.removeTarget(let id)):
      book.remove(id, of: call)
      send([.targetChange(TargetChange(.remove, targetIDs: [id]))], to: call)
    case .listen(.addTarget(let target)):
      guard state.withLock({ $0.calls[call] != nil }) else { return }
      do {
        send(try await book.add(target, of: call, in: snapshot), to: call)
      } catch let error as FirestoreError {
        send([.targetChange(TargetChange(.remove, targetIDs: [target.id], cause: error))], to: call)
      }
    }
  }

  private func send(_ responses: [ListenResponse], to call: WatchBook.CallID) {
    guard let continuation = state.withLock({ $0.calls[call] }) else { return }
    if case .dropped = continuation.yield(responses) {
      continuation.finish(
        throwing: FirestoreError(.resourceExhausted, "The listener does not read; listen again with its resume tokens.")
      )
    }
  }

  private func fail(_ error: FirestoreError) {
    let (calls, observation) = state.withLock { state in
      defer { state = State(lastCall: state.lastCall) }
      return (state.calls, state.observation)
    }
    observation?.cancel()
    for call in calls.values { call.finish(throwing: error) }
  }

  private func stopIfIdle() -> Bool {
    let (isIdle, observation) = state.withLock { state in
      guard state.calls.isEmpty, state.requests.isEmpty else { return (false, nil as InteropRegistration?) }
      defer { state = State(lastCall: state.lastCall) }
      return (true, state.observation)
    }
    observation?.cancel()
    return isIdle
  }
}
