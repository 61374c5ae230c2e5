import Dispatch
import VestaConcurrency

/// The work and the progress of a transfer, for one attempt after the other.
///
/// An attempt runs in a separate task, reports through the ``TransferReport``, and throws `CancellationError` as soon
/// as it can when it is stopped. The next attempt begins when the one before it has returned.
protocol TransferWork: Sendable {
  /// Transfers what is left.
  ///
  /// - Returns: The metadata that the service has, for an upload.
  func run(_ report: TransferReport) async throws -> StorageMetadata?

  /// Frees what the transfer holds, when no attempt is running; a second call does nothing.
  func end(_ ending: TransferEnding) async
}

/// The way in which a transfer has ended.
enum TransferEnding: Sendable, Equatable {
  case succeeded
  case failed(any Error)
  case cancelled

  static func == (left: TransferEnding, right: TransferEnding) -> Bool {
    switch (left, right) {
    case (.succeeded, .succeeded), (.failed, .failed), (.cancelled, .cancelled): true
    default: false
    }
  }
}

/// The reports of an attempt to its runner.
struct TransferReport: Sendable {
  let progressed: @Sendable (_ completed: Int64, _ total: Int64) -> Void
  /// Asks for the right to give the content its place; see ``TransferMachine/mayPublish(attempt:)``.
  let mayPublish: @Sendable () -> Bool
  /// The place that the attempt has among the transfers of the process.
  let place: TransferPlace
}

/// Holds the state of a task under a lock, runs its attempts, and calls its observers.
final class TransferRunner: Sendable {
  struct Observer: Sendable {
    let handle: String
    let status: StorageTaskStatus
    let call: @Sendable (StorageTaskSnapshot) -> Void
  }

  private struct State {
    var machine: TransferMachine
    var observers: [Observer] = []
    var nextHandle = 0
    var sinks: [Int: StreamSink<StorageTaskSnapshot>] = [:]
    var nextSink = 0
    var attempt: Task<Void, Never>?
    /// The attempts that have not returned, and the clean-up.
    var cleaning: Task<Void, Never>?
    var metadata: StorageMetadata?
    var error: (any Error)?
    var completed: Int64 = 0
    var total: Int64 = 0
    /// The task keeps itself alive until it is over.
    var task: StorageTask?
    var waiters = Waiters()
  }

  let reference: StorageReference
  private let work: any TransferWork
  private let queue: DispatchQueue
  private let state: Locked<State>

  init(_ kind: TransferMachine.Kind, reference: StorageReference, metadata: StorageMetadata?, work: any TransferWork) {
    self.reference = reference
    self.work = work
    // A separate queue keeps the order of the calls, also when the callback queue is concurrent.
    queue = DispatchQueue(label: "vesta.storage.task", target: reference.storage.callbackQueue)
    state = Locked(State(machine: TransferMachine(kind), metadata: metadata))
  }

  func attach(_ task: StorageTask) { state.withLock { $0.task = task } }

  // MARK: Calls of the task

  func perform(_ decide: (inout TransferMachine) -> [TransferMachine.Action]) {
    act { decide(&$0.machine) }
  }

  func cancel(_ error: StorageError = .cancelled) {
    act { state in
      let actions = state.machine.cancel()
      if !actions.isEmpty { state.error = error.thrown }
      return actions
    }
  }

  /// Fails a transfer that cannot begin.
  func refuse(_ error: StorageError) {
    act { state in
      state.error = error.thrown
      return state.machine.refused()
    }
  }

  func snapshot(of task: StorageTask) -> StorageTaskSnapshot {
    state.withLock { Self.snapshot($0, task, reference, $0.machine.status) }
  }

  func observe(
    _ status: StorageTaskStatus, _ task: StorageTask, _ call: @escaping @Sendable (StorageTaskSnapshot) -> Void
  ) -> String {
    state.withLock { state in
      let handle = "\(state.nextHandle)"
      state.nextHandle += 1
      if !state.machine.isOver { state.observers.append(Observer(handle: handle, status: status, call: call)) }
      if state.machine.replays(status) {
        let snapshot = Self.snapshot(state, task, reference, status)
        queue.async { call(snapshot) }
      }
      return handle
    }
  }

  func removeObservers(_ isRemoved: (Observer) -> Bool) {
    // The values that handlers have captured are freed with the lock open.
    let removed = state.withLock { state in
      let removed = state.observers.filter(isRemoved)
      state.observers.removeAll(where: isRemoved)
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  func progressUpdates(of task: StorageTask) -> AsyncThrowingStream<StorageTaskSnapshot, any Error> {
    .snapshots(merge: { _, new in new }) { sink in add(sink, task) }
  }

  /// Waits until the calls of observers that are due have been made.
  func observersWereCalled() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Waits until the task is over, and returns how it ended.
  func end() async -> (metadata: StorageMetadata?, error: (any Error)?) {
    await state.wait(in: \.waiters) { $0.machine.isOver }
    return state.withLock { ($0.metadata, $0.error) }
  }

  private func add(_ sink: StreamSink<StorageTaskSnapshot>, _ task: StorageTask) -> ListenerRegistration {
    enum Start { case added(Int, StorageTaskSnapshot?), over((any Error)?) }
    let start = state.withLock { state -> Start in
      guard !state.machine.isOver else { return .over(state.error) }
      state.nextSink += 1
      state.sinks[state.nextSink] = sink
      let replayed = state.machine.replays(.progress) ? Self.snapshot(state, task, reference, .progress) : nil
      return .added(state.nextSink, replayed)
    }
    switch start {
    case .over(let error):
      sink.finish(throwing: error)
      return ListenerRegistration {}
    case .added(let number, let replayed):
      if let replayed { sink.send(replayed) }
      return ListenerRegistration { [weak self] in
        let removed = self?.state.withLock { $0.sinks.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}
      }
    }
  }

  /// The number of streams that listen; for tests.
  var listenerCount: Int { state.withLock { $0.sinks.count } }

  // MARK: Acting

  private func act(_ decide: (inout State) -> [TransferMachine.Action]) {
    // Started and freed with the lock open: attempts, sinks, and what handlers captured.
    var afterwards: [() -> Void] = []
    state.withLock { state in
      for action in decide(&state) { perform(action, &state, &afterwards) }
    }
    for work in afterwards { work() }
  }

  private func perform(_ action: TransferMachine.Action, _ state: inout State, _ afterwards: inout [() -> Void]) {
    switch action {
    case .start(let number):
      let previous = state.attempt
      state.attempt = Task { await self.run(number, after: previous) }
    case .stop: state.attempt?.cancel()
    case .cleanUp: break
    case .notify(let status): notify(status, &state, &afterwards)
    case .end: end(&state, &afterwards)
    }
  }

  private func notify(_ status: StorageTaskStatus, _ state: inout State, _ afterwards: inout [() -> Void]) {
    guard let task = state.task else { return }
    let snapshot = Self.snapshot(state, task, reference, status)
    let calls = state.observers.filter { $0.status == status }.map(\.call)
    // Queued under the lock, so that the calls have the order of what happened.
    if !calls.isEmpty { queue.async { for call in calls { call(snapshot) } } }
    guard status == .progress else { return }
    let sinks = Array(state.sinks.values)
    if !sinks.isEmpty { afterwards.append { for sink in sinks { sink.send(snapshot) } } }
  }

  private func end(_ state: inout State, _ afterwards: inout [() -> Void]) {
    let ending: TransferEnding =
      switch state.machine.state {
      case .success: .succeeded
      case .failed: .failed(state.error ?? StorageError.cancelled)
      default: .cancelled
      }
    let (observers, sinks, waiters, task) = (
      state.observers, Array(state.sinks.values), state.waiters.takeAll(), state.task
    )
    let (error, attempt, work) = (ending == .succeeded ? nil : state.error, state.attempt, work)
    state.observers = []
    state.sinks = [:]
    state.task = nil
    // The attempt may be the one that is ending the transfer, so its end is awaited in a separate task.
    state.cleaning = Task { [self] in
      await attempt?.value
      await work.end(ending)
      reference.storage.transfers.remove(self)
    }
    afterwards.append {
      withExtendedLifetime((observers, task)) {}
      for sink in sinks { sink.finish(throwing: error) }
      waiters.resume()
    }
  }

  /// Waits until all work of an ended transfer is done.
  func cleanedUp() async { await state.withLock { $0.cleaning }?.value }

  private func run(_ number: Int, after previous: Task<Void, Never>?) async {
    await previous?.value
    let place = reference.storage.caller.places.place(of: reference.storage)
    let ending: Result<StorageMetadata?, any Error>
    do {
      try await place.enter()
      act { $0.machine.began(attempt: number) }
      ending = .success(try await work.run(report(number, place)))
    } catch {
      ending = .failure(error)
    }
    place.leave()
    switch ending {
    case .success(let metadata): succeeded(number, metadata)
    case .failure(let error) where error is CancellationError && Task.isCancelled:
      act { $0.machine.stopped(attempt: number) }
    case .failure(let error): await failed(number, error)
    }
  }

  private func report(_ number: Int, _ place: TransferPlace) -> TransferReport {
    TransferReport(
      progressed: { [weak self] completed, total in
        self?.act { state in
          let actions = state.machine.progressed(attempt: number)
          if !actions.isEmpty { (state.completed, state.total) = (completed, total) }
          return actions
        }
      },
      mayPublish: { [weak self] in self?.state.withLock { $0.machine.mayPublish(attempt: number) } ?? false },
      place: place)
  }

  private func succeeded(_ number: Int, _ metadata: StorageMetadata?) {
    act { state in
      let actions = state.machine.succeeded(attempt: number)
      if !actions.isEmpty, let metadata { state.metadata = metadata }
      return actions
    }
  }

  private func failed(_ number: Int, _ error: any Error) async {
    var cleansUp = false
    act { state in
      let actions = state.machine.failed(attempt: number)
      cleansUp = actions.contains(.cleanUp)
      if cleansUp { state.error = StorageErrorTable.thrown(for: error, object: reference.objectName) }
      return actions
    }
    guard cleansUp else { return }
    // The clean-up of a transfer is not the attempt's: it is not cancelled with it.
    await Task { [work] in await work.end(.failed(error)) }.value
    act { $0.machine.cleanedUp() }
  }

  private static func snapshot(
    _ state: State, _ task: StorageTask, _ reference: StorageReference, _ status: StorageTaskStatus
  ) -> StorageTaskSnapshot {
    StorageTaskSnapshot(
      task: task, reference: reference, status: status, metadata: state.metadata, error: state.error,
      completedBytes: state.completed, totalBytes: state.total)
  }
}
