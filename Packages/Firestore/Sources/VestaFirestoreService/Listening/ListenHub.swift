import VestaFirestoreBackend
import VestaFirestoreModel
import VestaListenerInterop
import VestaStoreInterop
import VestaConcurrency

/// The listen calls of a database, and the one task that serves them all.
///
/// The task wakes for a commit, for a request, and for a start that is ready. A turn reads the store at one moment:
/// first all targets are brought to it, then those join whose starts are ready, at the same moment. So no change can
/// fall between, or come twice. What takes long, finding what is in at first, is done by tasks beside it.
final class ListenHub: Sendable {
  typealias Read = @Sendable ((Snapshot) async throws -> Void) async throws -> Void

  private enum Event: Sendable {
    case request(ListenRequest, of: WatchBook.CallID)
    case end(WatchBook.CallID)
    case started(WatchBook.Ticket, Result<WatchStart, FirestoreError>)
  }

  private struct State: Sendable {
    var calls: [WatchBook.CallID: AsyncThrowingStream<[ListenResponse], any Error>.Continuation] = [:]
    var events: [Event] = []
    var lastCall = 0
    /// Which task serves; what one has been asked for is nothing to the next.
    var run = 0
    var wake: AsyncStream<Void>.Continuation?
    var observation: InteropRegistration?

    /// Nothing, as before the first call; numbers are never used again.
    var cleared: State { State(lastCall: lastCall, run: run) }
  }

  /// How many batches a call may leave unread.
  private static let patience = 4096

  private let state = Locked(State())
  private let name: DatabaseName
  private let store: any OrderedStore
  private let digest: BloomFilter.Digest?
  private let read: Read

  /// - Parameter read: Reads the store at one version.
  init(_ name: DatabaseName, store: any OrderedStore, options: FirestoreServiceOptions, read: @escaping Read) {
    self.name = name
    self.store = store
    digest = options.md5
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
    continuation.onTermination = { _ in self.end(id) }
    start()
    return ListenCall(
      responses: responses,
      send: { self.submit($0, of: id) },
      finish: { continuation.finish() },
      cancel: { continuation.finish() }
    )
  }

  /// Tells the task that something has been committed.
  func wake() { state.withLock { $0.wake }?.yield() }

  /// Ends all calls.
  func close() { close(.shutDown) }

  private func close(_ error: FirestoreError) {
    let (calls, wake, observation) = state.withLock { state in
      defer { state = state.cleared }
      return (state.calls, state.wake, state.observation)
    }
    for call in calls.values { call.finish(throwing: error) }
    observation?.cancel()
    wake?.finish()
  }

  // MARK: What comes in

  private func submit(_ request: ListenRequest, of call: WatchBook.CallID) {
    let wake = state.withLock { state in
      guard state.calls[call] != nil else { return nil as AsyncStream<Void>.Continuation? }
      state.events.append(.request(request, of: call))
      return state.wake
    }
    wake?.yield()
  }

  private func end(_ call: WatchBook.CallID) {
    let wake = state.withLock { state in
      guard state.calls.removeValue(forKey: call) != nil else { return nil as AsyncStream<Void>.Continuation? }
      state.events.append(.end(call))
      return state.wake
    }
    wake?.yield()
  }

  private func submit(_ start: Result<WatchStart, FirestoreError>, for ticket: WatchBook.Ticket, of run: Int) {
    let wake = state.withLock { state in
      guard state.run == run, state.wake != nil else { return nil as AsyncStream<Void>.Continuation? }
      state.events.append(.started(ticket, start))
      return state.wake
    }
    wake?.yield()
  }

  // MARK: The task

  /// Starts the task with the first call; it ends with the last one.
  private func start() {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let run = state.withLock { state in
      guard state.wake == nil else { return nil as Int? }
      state.wake = continuation
      state.run += 1
      return state.run
    }
    guard let run else { return }
    if let observable = store as? any CommitObservable {
      let observation = observable.observeCommits { _ in continuation.yield() }
      let isKept = state.withLock { state in
        guard state.wake != nil else { return false }
        state.observation = observation
        return true
      }
      if !isKept { observation.cancel() }
    }
    Task { await self.serve(signals, run) }
  }

  private func serve(_ signals: AsyncStream<Void>, _ run: Int) async {
    var book = WatchBook()
    var starts = StartQueue { self.begin($0, run) }
    defer { starts.cancelAll() }
    for await _ in signals {
      let events = state.withLock { state in
        defer { state.events = [] }
        return state.events
      }
      do {
        try await read { snapshot in
          self.send(try await book.advance(to: snapshot))
          for event in events { try await self.serve(event, &book, &starts, snapshot) }
        }
      } catch {
        close(FirestoreError(serving: error))
        return
      }
      if stopIfIdle() { return }
    }
  }

  private func serve(
    _ event: Event, _ book: inout WatchBook, _ starts: inout StartQueue, _ snapshot: Snapshot
  ) async throws {
    switch event {
    case .end(let call): for ticket in book.end(call) { starts.cancel(ticket) }
    case .request(.removeTarget(let id), let call):
      if let ticket = book.remove(id, of: call) { starts.cancel(ticket) }
      send([(call, [.targetChange(TargetChange(.remove, targetIDs: [id]))])])
    case .request(.addTarget(let target), let call):
      guard state.withLock({ $0.calls[call] != nil }) else { return }
      do {
        let start = try book.add(target, of: call, in: name)
        send([(call, [.targetChange(TargetChange(.add, targetIDs: [target.id]))])])
        if let start { starts.add(start) }
      } catch let error as FirestoreError {
        // The caller takes the id for gone, so a target that had it before must not go on either.
        if let ticket = book.remove(target.id, of: call) { starts.cancel(ticket) }
        send([(call, [.targetChange(TargetChange(.remove, targetIDs: [target.id], cause: error))])])
      }
    case .started(let ticket, let result):
      switch result {
      case .failure(let error): send(book.refuse(ticket, error))
      case .success(let start):
        guard let mail = try await book.join(ticket, start, in: snapshot) else { return starts.again(ticket) }
        send(mail)
      }
      starts.end(ticket)
    }
  }

  /// Works out a start beside the task that serves, and brings it near the present there as well.
  private func begin(_ job: WatchBook.Job, _ run: Int) -> Task<Void, Never> {
    Task {
      do {
        var start: WatchStart?
        try await self.read { start = try await WatchStart(job.order, in: $0, digest: self.digest) }
        // What was committed meanwhile may be much; what is committed while that is looked at is less.
        try await self.read { snapshot in
          if let before = start?.version, before < snapshot.version { _ = try await start?.advance(to: snapshot) }
        }
        start?.prepare(for: job.target)
        if let start { self.submit(.success(start), for: job.ticket, of: run) }
      } catch {
        self.submit(.failure(FirestoreError(serving: error)), for: job.ticket, of: run)
      }
    }
  }

  private func send(_ mail: WatchBook.Mail) {
    if mail.isEmpty { return }
    let letters = state.withLock { state in mail.map { (state.calls[$0.call], $0.responses) } }
    for (call, responses) in letters {
      guard let call, case .dropped = call.yield(responses) else { continue }
      call.finish(
        throwing: FirestoreError(
          .resourceExhausted, "The listener does not read; listen again with its resume tokens."))
    }
  }

  private func stopIfIdle() -> Bool {
    let (isIdle, observation) = state.withLock { state in
      guard state.calls.isEmpty, state.events.isEmpty else { return (false, nil as InteropRegistration?) }
      defer { state = state.cleared }
      return (true, state.observation)
    }
    observation?.cancel()
    return isIdle
  }
}
