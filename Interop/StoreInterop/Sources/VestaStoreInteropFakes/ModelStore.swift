public import VestaConcurrency
public import VestaStoreInterop

/// The storage contract on a plain sorted array: the store of a product's own tests, and the model that the answers of
/// other engines are compared with.
///
/// One transaction at a time, whole copies for snapshots, nothing kept after `close`. Too slow for more than tests.
public final class ModelStore: CommitObservable {
  private struct State {
    var model = StoreModel()
    var version = StoreVersion.zero
    var isClosed = false
    var readers = 0
    var closers = Waiters()
  }

  private let bodies = StoreBodies()
  private let writers = FairQueue(limit: 1)
  private let state = Locked(State())
  private let commitNews = ListenerRegistry<StoreVersion>()
  private let versions: StoreVersions

  /// An empty store.
  ///
  /// - Parameter clock: The clocks that versions are taken from.
  public init(clock: StoreClock = .system) { versions = StoreVersions(above: .zero, clock: clock) }

  /// Reads at one version in time.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    let snapshot = try state.withLock { state in
      guard !state.isClosed else { throw ModelStore.error(.closed, "read") }
      state.readers += 1
      return (model: state.model, version: state.version)
    }
    let reader = ModelTransaction(
      model: snapshot.model, version: snapshot.version, isReader: true, isCancelled: { Task.isCancelled },
      versions: versions)
    defer {
      reader.end()
      endRead()
    }
    return try await bodies.run(.read) { try await body(reader) }
  }

  /// Changes the store: all of the body's changes, or none.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try bodies.refuseInside(.write, "write")
    try await bodies.whileWaiting("write") { try await writers.enter() }
    defer {
      versions.settle()
      writers.leave()
    }
    let start = state.withLock { (model: $0.model, version: $0.version) }
    let transaction = ModelTransaction(
      model: start.model, version: start.version, isReader: false, isCancelled: { Task.isCancelled },
      versions: versions)
    defer { transaction.end() }
    let value = try await bodies.run(.write) { try await body(transaction) }
    try Task.checkCancellation()
    let model = transaction.model
    guard model != start.model else { return StoreCommit(value: value, version: start.version) }
    let version = transaction.allotted()
    state.withLock { ($0.model, $0.version) = (model, version) }
    commitNews.emit(version)
    return StoreCommit(value: value, version: version)
  }

  /// Raises the floor of later versions.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    guard !state.withLock({ $0.isClosed }) else { throw ModelStore.error(.closed, "raiseFloor") }
    try bodies.refuseInside(.write, "raiseFloor")
    return try await bodies.whileWaiting("raiseFloor") { try await versions.raise(to: version) }
  }

  /// Ends the store.
  public func close() async throws {
    try bodies.refuseInside(nil, "close")
    writers.close(throwing: ModelStore.error(.closed, "write"))
    state.withLock { $0.isClosed = true }
    await writers.drained()
    await state.wait(in: \.closers) { $0.readers == 0 }
    commitNews.finish()
  }

  /// Calls back after every commit.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    commitNews.add(observer)
  }

  /// Observers are called before a write returns.
  public var tellsBeforeAcknowledging: Bool { true }

  /// The commits from here on as a stream.
  public var commits: AsyncStream<StoreVersion> { commitNews.events }

  private func endRead() {
    let closers = state.withLock { state in
      state.readers -= 1
      return state.readers == 0 ? state.closers.takeAll() : Waiters()
    }
    closers.resume()
  }

  static func error(_ code: StoreError.Code, _ operation: String) -> StoreError {
    StoreError(code, operation: operation, message: "The model store refused it.")
  }
}

/// A transaction, or a reader, on a copy of the model.
private final class ModelTransaction: StoreTransaction {
  private(set) var model: StoreModel
  let version: StoreVersion
  let answersInPlace: Bool
  private let isCancelled: () -> Bool
  private let versions: StoreVersions
  private var commitTime: StoreVersion?
  private var hasEnded = false

  init(
    model: StoreModel, version: StoreVersion, isReader: Bool, isCancelled: @escaping () -> Bool, versions: StoreVersions
  ) {
    self.model = model
    self.version = version
    answersInPlace = isReader
    self.isCancelled = isCancelled
    self.versions = versions
  }

  /// The version of the commit; the next one of the store when it was not asked for before.
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
