public import VestaStoreInterop
public import VestaTesting

/// A store to be held to its contract: fresh, empty and without other users.
public struct StoreSubject: Sendable {
  /// The store; the check closes it.
  public let store: any OrderedStore

  /// Another new and empty store of the same engine; `nil` leaves out what two stores do with each other.
  public let other: (any OrderedStore)?

  /// Closes nothing and opens the same data once more; `nil` for an engine that keeps nothing.
  public let reopen: (@Sendable () async throws -> any OrderedStore)?

  /// The clocks of the store, to be set by the checks; `nil` for an engine whose clocks cannot be set.
  public let clock: ManualStoreClock?

  /// Whether the store notifies observers of its commits, as `CommitObservable` asks.
  public let observesCommits: Bool

  /// Whether a transaction inside a transaction is seen and refused.
  public let seesNesting: Bool

  /// Makes the disk of the store full, or gives it room again; `nil` where that cannot be done.
  public let setFull: (@Sendable (Bool) async throws -> Void)?

  /// A subject with what its engine can do.
  ///
  /// - Parameters:
  ///   - store: A new and empty store.
  ///   - observesCommits: Whether it is `CommitObservable`.
  ///   - seesNesting: Whether a nested `write` throws `StoreError.Code.nested`.
  ///   - clock: The clocks that the store, and the reopened one, take their versions from.
  ///   - other: Another new and empty store of the same engine.
  ///   - reopen: Opens the data again after `close`; `nil` for an engine that keeps nothing.
  ///   - setFull: Makes the disk of the store full, or gives it room again.
  public init(
    store: any OrderedStore,
    observesCommits: Bool = true,
    seesNesting: Bool = true,
    clock: ManualStoreClock? = nil,
    other: (any OrderedStore)? = nil,
    reopen: (@Sendable () async throws -> any OrderedStore)? = nil,
    setFull: (@Sendable (Bool) async throws -> Void)? = nil
  ) {
    self.store = store
    self.reopen = reopen
    self.setFull = setFull
    self.observesCommits = observesCommits
    self.seesNesting = seesNesting
    self.clock = clock
    self.other = other
  }

  /// The store as one that notifies observers of its commits.
  func observable() throws -> any CommitObservable {
    try expectValue(store as? any CommitObservable, "a store said to tell of its commits, as CommitObservable")
  }
}

/// The promises of every `OrderedStore`, as named checks.
///
/// ```swift
/// let outcomes = await StoreContracts.all.run { StoreSubject(store: MemoryStore()) }
/// for outcome in outcomes where !outcome.isKept { print(outcome) }
/// ```
///
/// A check that is not through after two minutes counts as broken, so that an engine that hangs is named.
public enum StoreContracts {
  /// Every promise there is.
  public static let all: [Contract<StoreSubject>] =
    reading + scanning + ownWrites + transactions + isolation + cancellation + limits + sizes
    + lifetime + closing + company + commits + versions + fullDisk

  /// A check that closes its store at its end, and has a time limit.
  static func promise(
    _ name: String,
    _ check: @escaping @Sendable (any OrderedStore) async throws -> Void
  ) -> Contract<StoreSubject> {
    promise(name, when: { _ in true }, of: { try await check($0.store) })
  }

  /// A check for subjects that can do something in particular; the others have promised nothing, and pass.
  static func promise(
    _ name: String,
    when applies: @escaping @Sendable (StoreSubject) -> Bool,
    of check: @escaping @Sendable (StoreSubject) async throws -> Void
  ) -> Contract<StoreSubject> {
    Contract(name) { subject in
      guard applies(subject) else { return }
      try await withDeadline(.seconds(120)) {
        do {
          try await check(subject)
        } catch {
          try? await subject.store.close()
          try? await subject.other?.close()
          throw error
        }
        try await subject.store.close()
        try await subject.other?.close()
      }
    }
  }
}

/// Runs an operation, and gives up waiting for it after a time; an operation that hangs is abandoned.
func withDeadline(_ time: Duration, _ operation: @escaping @Sendable () async throws -> Void) async throws {
  let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
  let work = Task.detached {
    do {
      try await operation()
      outcome.yield(.success(()))
    } catch {
      outcome.yield(.failure(error))
    }
  }
  let watchdog = Task.detached {
    try await Task.sleep(for: time)
    work.cancel()
    outcome.yield(.failure(ContractViolation("not finished after \(time): it hangs, or is far too slow")))
  }
  defer { watchdog.cancel() }
  for await result in outcomes { return try result.get() }
}
