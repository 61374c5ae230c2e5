import VestaConcurrency
public import VestaCredentialInterop

/// A store in memory that fails on request.
public final class FakeCredentialStore: CredentialStore {
  private struct State {
    var entries: [String: [UInt8]] = [:]
    var damaged: Set<String> = []
    var aside = 0
    var loads = 0
    var writes = 0
    var failsToRead = false
    var failsToWrite = false
  }

  private let state = Locked(State())

  /// A store with nothing in it.
  public init() {}

  /// How often ``load(_:)`` was called.
  public var loads: Int { state.withLock { $0.loads } }

  /// The number of calls that write.
  public var writes: Int { state.withLock { $0.writes } }

  /// Makes every read fail with `unreadable` from now on, or ends that.
  public func setFailsToRead(_ fails: Bool) { state.withLock { $0.failsToRead = fails } }

  /// Makes every write fail with `unwritable` from now on, or ends that.
  public func setFailsToWrite(_ fails: Bool) { state.withLock { $0.failsToWrite = fails } }

  /// Damages the bytes under a key: the next ``load(_:)`` finds that.
  public func damage(_ key: String) { state.withLock { _ = $0.damaged.insert(key) } }

  /// Returns the bytes that were saved last under a key.
  public func load(_ key: String) throws(CredentialStoreError) -> [UInt8]? {
    let (fails, isDamaged) = state.withLock { state in
      state.loads += 1
      return (state.failsToRead, state.damaged.contains(key))
    }
    if fails { throw CredentialStoreError(.unreadable, "The fake is set to fail.") }
    guard isDamaged else { return state.withLock { $0.entries[key] } }
    let place = try setAside(key)
    throw CredentialStoreError(.corrupted, "The fake is set to take this as damaged. It is kept as \(place).")
  }

  /// Saves bytes under a key.
  public func save(_ bytes: [UInt8], for key: String) throws(CredentialStoreError) {
    try write { state in
      state.damaged.remove(key)
      state.entries[key] = bytes
    }
  }

  /// Deletes the bytes under a key.
  public func remove(_ key: String) throws(CredentialStoreError) {
    try write { state in
      state.damaged.remove(key)
      state.entries[key] = nil
    }
  }

  /// Moves the bytes to another key.
  public func setAside(_ key: String) throws(CredentialStoreError) -> String {
    try write { state in
      state.aside += 1
      state.damaged.remove(key)
      let place = "\(key).aside-\(state.aside)"
      state.entries[place] = state.entries.removeValue(forKey: key)
      return place
    }
  }

  private func write<Value: Sendable>(_ body: (inout State) -> Value) throws(CredentialStoreError) -> Value {
    let value = state.withLock { state -> Value? in
      state.writes += 1
      return state.failsToWrite ? nil : body(&state)
    }
    guard let value else { throw CredentialStoreError(.unwritable, "The fake is set to fail.") }
    return value
  }
}
