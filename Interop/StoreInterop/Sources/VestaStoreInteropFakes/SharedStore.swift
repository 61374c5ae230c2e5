public import VestaConcurrency
public import VestaStoreInterop

/// The access of one process to a store that other processes have open too.
///
/// Commits may be acknowledged before they are reported, and closing it leaves the store open for the others.
///
/// ```swift
/// let store = ModelStore()
/// let first = AuthEngine(…) { SharedStore(store) }
/// let second = AuthEngine(…) { SharedStore(store) }   // as in another process
/// ```
public final class SharedStore: CommitObservable {
  private let base: ModelStore
  private let refusal: @Sendable () -> StoreError?
  private let elsewhere = ListenerRegistry<StoreVersion>()

  /// Access to a store.
  ///
  /// - Parameters:
  ///   - base: The store that the processes share.
  ///   - refusal: Returns the error with which a write fails; `nil` for none.
  public init(_ base: ModelStore = ModelStore(), refusal: @escaping @Sendable () -> StoreError? = { nil }) {
    self.base = base
    self.refusal = refusal
  }

  /// Reads at one version in time.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await base.read(body)
  }

  /// Changes the store, unless the write is to fail.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    if let refusal = refusal() { throw refusal }
    return try await base.write(body)
  }

  /// Raises the floor of later versions.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try await base.raiseFloor(to: version)
  }

  /// Ends the access alone; the store stays open.
  public func close() async throws {}

  /// Calls back after every commit, and for ``reportCommitElsewhere()``.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    let registrations = [base.observeCommits(observer), elsewhere.add(observer)]
    return ListenerRegistration { for registration in registrations { registration.cancel() } }
  }

  /// No: other processes write to the store.
  public var tellsBeforeAcknowledging: Bool { false }

  /// The commits from here on as a stream.
  public var commits: AsyncStream<StoreVersion> { base.commits }

  /// Calls the observers as for a commit of another process.
  public func reportCommitElsewhere() { elsewhere.emit(.zero) }

  /// The number of observers of commits.
  public var observerCount: Int { elsewhere.count }
}
