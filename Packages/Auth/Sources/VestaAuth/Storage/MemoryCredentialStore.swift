import VestaConcurrency
public import VestaCredentialInterop

/// Keeps sessions until the process ends: for tests, and for programs that sign in at each start.
public final class MemoryCredentialStore: CredentialStore {
  private struct State {
    var entries: [String: [UInt8]] = [:]
    var aside = 0
  }

  private let state = Locked(State())

  /// A store with nothing in it.
  public init() {}

  /// Returns the bytes that were saved last under a key.
  public func load(_ key: String) throws(CredentialStoreError) -> [UInt8]? {
    state.withLock { $0.entries[key] }
  }

  /// Keeps bytes under a key.
  public func save(_ bytes: [UInt8], for key: String) throws(CredentialStoreError) {
    state.withLock { $0.entries[key] = bytes }
  }

  /// Forgets what is kept under a key.
  public func remove(_ key: String) throws(CredentialStoreError) {
    state.withLock { $0.entries[key] = nil }
  }

  /// Keeps the bytes under another key.
  public func setAside(_ key: String) throws(CredentialStoreError) -> String {
    state.withLock { state in
      state.aside += 1
      let place = "\(key).corrupt-\(state.aside)"
      state.entries[place] = state.entries.removeValue(forKey: key)
      return place
    }
  }
}
