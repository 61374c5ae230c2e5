public import VestaConcurrency
public import VestaStoreInterop

/// The storage contract on a plain sorted array: what other engines' answers are compared with.
///
/// One transaction at a time, whole copies for snapshots, nothing kept after `close`. Too slow for more than tests.
public final class ModelStore: CommitObservable {
  private struct State {
    var model = StoreModel()
    var version = StoreVersion.zero
    var isClosed = false
    var isWriting = false
    var running = 0
    var writers: [CheckedContinuation<Void, any Error>] = []
    var closers: [CheckedContinuation<Void, Never>] = []
    var observers: [ModelObservation] = []
  }

  private let bodies = StoreBodies()
  private let state = Guarded(State())
  private let versions: StoreVersions

  /// An empty store.
  ///
  /// - Parameter clock: The clocks that versions are taken from.
  public init(clock: StoreClock = .system) { versions = StoreVersions(above: .zero, clock: clock) }

  /// Reads at one version in time.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    let moment = try state.withValue { state in
      guard !state.isClosed else { throw ModelStore.error(.closed, "read") }
      state.running += 1
      return (state.model, state.version)
    }
    let reader = ModelTransaction(
      model: moment.0, version: moment.1, isCancelled: { Task.isCancelled }, versions: versions)
    defer {
      reader.end()
      leave()
    }
    return try await bodies.run(.read) { try await body(reader) }
  }

  /// Changes the store: all of the body's changes, or none.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try bodies.refuseInside(.write, "write")
    try await bodies.whileWaiting("write") { try await waitForTurn() }
    defer {
      versions.settle()
      passTurn()
    }
    let moment = state.withValue { ($0.model, $0.version) }
    let transaction = ModelTransaction(
      model: moment.0, version: moment.1, isCancelled: { Task.isCancelled }, versions: versions)
    defer { transaction.end() }
    let value = try await bodies.run(.write) { try await body(transaction) }
    try Task.checkCancellation()
    guard transaction.model != moment.0 else { return StoreCommit(value: value, version: moment.1) }
    let version = transaction.allotted()
    let observers = state.withValue { state in
      state.model = transaction.model
      state.version = version
      return state.observers
    }
    for observer in observers { observer.tell(version) }
    return StoreCommit(value: value, version: version)
  }

  /// Raises the floor of the versions to come.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    guard !state.withValue({ $0.isClosed }) else { throw ModelStore.error(.closed, "raiseFloor") }
    try bodies.refuseInside(.write, "raiseFloor")
    return try await bodies.whileWaiting("raiseFloor") { try await versions.raise(to: version) }
  }

  /// Ends the store.
  public func close() async throws {
    try bodies.refuseInside(nil, "close")
    let refused = state.withValue { state in
      state.isClosed = true
      defer { state.writers = [] }
      return state.writers
    }
    for writer in refused { writer.resume(throwing: ModelStore.error(.closed, "write")) }
    await withCheckedContinuation { continuation in
      let isDone = state.withValue { state in
        if state.running > 0 { state.closers.append(continuation) }
        return state.running == 0
      }
      if isDone { continuation.resume() }
    }
    let observers = state.withValue { state in
      defer { state.observers = [] }
      return state.observers
    }
    for observer in observers { observer.finish() }
  }

  /// Calls back after every commit.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    let observation = add(ModelObservation(tell: observer, finish: {}))
    return ListenerRegistration { observation.cancel() }
  }

  /// Observers are called before a write returns.
  public var tellsBeforeAcknowledging: Bool { true }

  /// The commits from here on as a stream.
  public var commits: AsyncStream<StoreVersion> {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreVersion.self)
    let observation = add(ModelObservation(tell: { continuation.yield($0) }, finish: { continuation.finish() }))
    continuation.onTermination = { _ in observation.cancel() }
    if state.withValue({ $0.isClosed }) { continuation.finish() }
    return stream
  }

  private func add(_ observation: ModelObservation) -> ModelObservation {
    state.withValue { if !$0.isClosed { $0.observers.append(observation) } }
    return observation
  }

  private func waitForTurn() async throws {
    try await withCheckedThrowingContinuation { continuation in
      let answer: Result<Bool, StoreError> = state.withValue { state in
        guard !state.isClosed else { return .failure(ModelStore.error(.closed, "write")) }
        guard state.isWriting else {
          state.isWriting = true
          state.running += 1
          return .success(true)
        }
        state.writers.append(continuation)
        return .success(false)
      }
      switch answer {
      case .success(true): continuation.resume()
      case .success(false): break
      case .failure(let error): continuation.resume(throwing: error)
      }
    }
  }

  private func passTurn() {
    let next = state.withValue { state -> CheckedContinuation<Void, any Error>? in
      guard !state.writers.isEmpty else {
        state.isWriting = false
        return nil
      }
      return state.writers.removeFirst()
    }
    if let next { next.resume() } else { leave() }
  }

  private func leave() {
    let closers = state.withValue { state -> [CheckedContinuation<Void, Never>] in
      state.running -= 1
      guard state.running == 0 else { return [] }
      defer { state.closers = [] }
      return state.closers
    }
    for closer in closers { closer.resume() }
  }

  static func error(_ code: StoreError.Code, _ operation: String) -> StoreError {
    StoreError(code, operation: operation, message: "The model store refused it.")
  }
}

/// A transaction, or a reader, on a copy of the model.
private final class ModelTransaction: StoreTransaction {
  private(set) var model: StoreModel
  let version: StoreVersion
  private let isCancelled: () -> Bool
  private let versions: StoreVersions
  private var commitTime: StoreVersion?
  private var hasEnded = false

  init(model: StoreModel, version: StoreVersion, isCancelled: @escaping () -> Bool, versions: StoreVersions) {
    self.model = model
    self.version = version
    self.isCancelled = isCancelled
    self.versions = versions
  }

  /// The version of the commit; the next one of the store when nobody has asked before.
  func allotted() -> StoreVersion {
    let version = commitTime ?? versions.next()
    commitTime = version
    return version
  }

  func commitVersion() async throws -> StoreVersion {
    try check("commitVersion")
    return allotted()
  }

  func end() { hasEnded = true }

  private func check(_ operation: String) throws {
    if hasEnded { throw ModelStore.error(.ended, operation) }
    if isCancelled() { throw CancellationError() }
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    try check("get")
    return model.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try check("get")
    return keys.map { model.get($0) }
  }

  func scan(
    _ range: KeyRange,
    order: ScanOrder,
    limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try check("scan")
    var rest = range
    let found = model.entries(in: range, order: order, limit: nil)
    for (index, entry) in found.enumerated() {
      try check("scan")
      if index == limit { return ScanEnd(visited: index, rest: rest) }
      rest = order == .ascending ? range.after(entry.key) : range.before(entry.key)
      let step = try visit(entry.key.span.bytes, entry.value.span.bytes)
      if step == .stop { return ScanEnd(visited: index + 1, rest: rest) }
    }
    return ScanEnd(visited: found.count, rest: nil)
  }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    try check("put")
    try StoreLimits.check(value, for: key)
    model.put(value, for: key)
  }

  func delete(_ key: [UInt8]) async throws {
    try check("delete")
    model.delete(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    try check("deleteRange")
    model.deleteRange(range)
  }
}

/// An observer that can be cancelled.
private final class ModelObservation: Sendable {
  private let isCancelled = Guarded(false)
  private let callBack: @Sendable (StoreVersion) -> Void
  let finish: @Sendable () -> Void

  init(tell: @escaping @Sendable (StoreVersion) -> Void, finish: @escaping @Sendable () -> Void) {
    callBack = tell
    self.finish = finish
  }

  func cancel() { isCancelled.withValue { $0 = true } }

  func tell(_ version: StoreVersion) {
    if !isCancelled.withValue({ $0 }) { callBack(version) }
  }
}
