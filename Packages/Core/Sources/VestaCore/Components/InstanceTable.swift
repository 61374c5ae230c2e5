import VestaConcurrency

/// The instances of a product that has several for each app: a Firestore for each database, a Storage for each bucket.
///
/// The component of such a product is a provider that owns one of these. Each key's instance is created once, however
/// many threads ask at the same time; different keys do not wait for one another.
///
/// ```swift
/// final class FirestoreProvider: Sendable {
///   private let databases = InstanceTable<String, Firestore>()
///   func firestore(database: String) throws -> Firestore {
///     try databases.instance(for: database) { Firestore(database: database) }
///   }
/// }
/// ```
public final class InstanceTable<Key: Hashable & Sendable, Instance: Sendable>: Sendable {
  private struct State {
    var order: [Key] = []
    var instances: [Key: Instance] = [:]
  }

  private let state = Locked(State())
  private let gate = CreationGate<Key>(place: "instances")

  /// An empty table.
  public init() {}

  /// The instance for a key, created if there is none yet.
  ///
  /// - Parameters:
  ///   - key: Which instance.
  ///   - create: Makes it, on the thread that asked first and with no lock held. Its error is thrown to that
  ///     caller; the next one tries again.
  /// - Returns: The instance.
  /// - Throws: The error of `create`, or `VestaError.Code.dependencyCycle` when creating an instance needs that
  ///   instance, or `VestaError.Code.appDeleted` after `removeAll()`.
  public func instance(for key: Key, create: () throws -> Instance) throws -> Instance {
    while true {
      if let instance = state.withLock({ $0.instances[key] }) { return instance }
      switch gate.enter(key) {
      case .lookAgain: continue
      case .closed: throw VestaError(.appDeleted, "The app of this instance (\(key)) has been deleted.")
      case .cycle(let path):
        throw VestaError(
          .dependencyCycle,
          "Creating the instance for \(key) needs that same instance: \(path.joined(separator: " -> ")).")
      case .create:
        defer { gate.leave(key) }
        if let instance = state.withLock({ $0.instances[key] }) { return instance }
        let instance = try create()
        state.withLock { state in
          state.order.append(key)
          state.instances[key] = instance
        }
        return instance
      }
    }
  }

  /// The instances there are, in the order in which they were created.
  public var all: [Instance] { state.withLock { state in state.order.compactMap { state.instances[$0] } } }

  /// Removes the instance of a key, so that the next caller gets a new one.
  ///
  /// - Parameters:
  ///   - key: Which instance.
  ///   - isWanted: Whether it is the one to remove; called with a lock held.
  /// - Returns: The instance; `nil` when there is none, or another one.
  @discardableResult
  public func remove(_ key: Key, where isWanted: (Instance) -> Bool) -> Instance? {
    state.withLock { state in
      guard let instance = state.instances[key], isWanted(instance) else { return nil }
      state.instances[key] = nil
      state.order.removeAll { $0 == key }
      return instance
    }
  }

  /// Empties the table for good, once no creation is under way.
  ///
  /// - Returns: Its instances, the last created first, for the provider to take down.
  public func removeAll() async -> [Instance] {
    await gate.close()
    return state.withLock { state in
      defer { state = State() }
      return state.order.reversed().compactMap { state.instances[$0] }
    }
  }
}
