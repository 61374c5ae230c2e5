import Synchronization
import VestaConcurrency

/// The bodies of one store that are running: which body is inside of which, and which would wait for which.
///
/// For authors of engines; the stores of this repository share it. A body is bound to its task while it runs, so
/// child tasks count as inside of it. It answers two questions before a caller waits:
///
/// - Is the caller inside a body of this store? A `write` inside a `write` would wait for itself.
/// - Would the caller wait in a cycle? `a.write { b.write { … } }` concurrently with `b.write { a.write { … } }` would
///   hang: the call that closes the cycle throws `StoreError.Code.nested` instead, and the other one continues.
///
/// Example: task 1 is inside a transaction of A and waits for the turn of B (recorded: transaction 1 -> B). Task 2 is
/// inside a transaction of B, and asks A for its turn. A is held by transaction 1, which waits for B, which is held by
/// transaction 2, which is the caller: `nested`.
public final class StoreBodies: Sendable {
  /// The transaction that is running now, if any.
  private let running = Locked<StoreBody?>(nil)

  /// The stores that each waiting transaction waits for; several when its child tasks wait.
  ///
  /// One table for the process, as a cycle spans several stores.
  private static let waiting = Locked<[ObjectIdentifier: [StoreBodies]]>([:])

  /// A store without bodies.
  public init() {}

  /// The innermost running body of this store around the caller.
  ///
  /// - Parameter kind: Only bodies of this kind; `nil` for both.
  public func current(_ kind: StoreBody.Kind? = nil) -> StoreBody? {
    var body = StoreBody.current
    while let found = body {
      if found.isRunning, found.store === self, kind == nil || found.kind == kind { return found }
      body = found.outer
    }
    return nil
  }

  /// Throws `nested` when the caller is inside a body of this store, and would wait for itself.
  ///
  /// - Parameters:
  ///   - operation: The operation of the caller.
  ///   - kind: Only bodies of this kind count; `nil` for both.
  ///   - path: The file of the store.
  public func refuseInside(_ kind: StoreBody.Kind? = nil, _ operation: String, path: String? = nil) throws {
    guard current(kind) != nil else { return }
    throw StoreError(
      .nested,
      operation: operation,
      path: path,
      message: "It was called inside a body of the same store, and would wait for it to end.",
      hint: "Use the transaction that the body was given, or call it after the body."
    )
  }

  /// Runs a body of this store.
  ///
  /// - Parameters:
  ///   - kind: A read, or the one transaction that runs.
  ///   - body: The work.
  public func run<Result>(_ kind: StoreBody.Kind, _ body: () async throws -> Result) async rethrows -> Result {
    let mine = StoreBody(kind, of: self, inside: StoreBody.current)
    if kind == .write { running.withLock { $0 = mine } }
    defer {
      mine.end()
      if kind == .write { running.withLock { if $0 === mine { $0 = nil } } }
    }
    return try await StoreBody.$current.withValue(mine) { try await body() }
  }

  /// Whether the caller is inside a transaction of any store.
  public static var isInsideTransaction: Bool { StoreBody.current?.transactions.isEmpty == false }

  /// Waits for something that the transactions of this store hold, unless they wait for the caller.
  ///
  /// - Parameters:
  ///   - operation: The operation of the caller.
  ///   - path: The file of the store.
  ///   - wait: The waiting.
  /// - Throws: `StoreError.Code.nested` where the wait would never end, and what `wait` throws.
  public func whileWaiting<Result>(
    _ operation: String, path: String? = nil, _ wait: () async throws -> Result
  ) async throws -> Result {
    let mine = StoreBody.current?.transactions ?? []
    if mine.isEmpty { return try await wait() }
    let isCycle = Self.waiting.withLock { waiting in
      if isHeld(byOneOf: mine, waiting) { return true }
      for body in mine { waiting[ObjectIdentifier(body), default: []].append(self) }
      return false
    }
    guard !isCycle else {
      throw StoreError(
        .nested,
        operation: operation,
        path: path,
        message: "Transactions of several stores wait for one another in a cycle.",
        hint: "Call the stores in the same order everywhere, or one after the other."
      )
    }
    defer { endWaiting(mine) }
    return try await wait()
  }

  private func endWaiting(_ bodies: [StoreBody]) {
    Self.waiting.withLock { waiting in
      for body in bodies {
        let id = ObjectIdentifier(body)
        guard var stores = waiting[id], let index = stores.firstIndex(where: { $0 === self }) else { continue }
        stores.remove(at: index)
        waiting[id] = stores.isEmpty ? nil : stores
      }
    }
  }

  /// How many transactions of the process wait, for tests.
  static var waitingTransactions: Int { waiting.withLock { $0.count } }

  /// Follows the chains of waiting from this store.
  private func isHeld(byOneOf bodies: [StoreBody], _ waiting: [ObjectIdentifier: [StoreBodies]]) -> Bool {
    var stores = [self]
    var seen: Set<ObjectIdentifier> = []
    while let store = stores.popLast() {
      guard seen.insert(ObjectIdentifier(store)).inserted, let holder = store.running.withLock({ $0 }) else { continue }
      if bodies.contains(where: { $0 === holder }) { return true }
      stores += waiting[ObjectIdentifier(holder)] ?? []
    }
    return false
  }
}

/// A body that is running, known to everything that is called from it.
public final class StoreBody: Sendable {
  /// The work of a body.
  public enum Kind: Sendable { case read, write }

  @TaskLocal static var current: StoreBody?

  let store: StoreBodies
  let kind: Kind
  let outer: StoreBody?
  private let hasEnded = Atomic(false)

  init(_ kind: Kind, of store: StoreBodies, inside outer: StoreBody?) {
    self.kind = kind
    self.store = store
    self.outer = outer
  }

  /// Whether the body has not returned; a task that outlives it still sees it.
  var isRunning: Bool { !hasEnded.load(ordering: .acquiring) }

  func end() { hasEnded.store(true, ordering: .releasing) }

  /// The running transactions from this one outwards, of all stores.
  var transactions: [StoreBody] {
    var found: [StoreBody] = []
    var body: StoreBody? = self
    while let next = body {
      if next.isRunning, next.kind == .write { found.append(next) }
      body = next.outer
    }
    return found
  }
}
