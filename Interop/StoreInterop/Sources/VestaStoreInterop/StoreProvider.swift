/// A storage plug-in of an app: opens named stores.
///
/// Each name has its own directory with one file of data in it, so that products neither share locks nor see one
/// another's keys, and a product's data can be copied or removed as one directory.
public protocol StoreProvider: Sendable {
  /// Opens a store, and makes it when it is not there.
  ///
  /// One store has one owner: opening it a second time, here or in another process, is an error until it is closed. A
  /// process that was killed leaves no lock.
  ///
  /// - Parameters:
  ///   - name: The name of the content, such as "auth": letters, digits, `-`, `_` and `.`, at most 100, not beginning
  ///     with a dot.
  ///   - directory: The directory above, as a path; it and its parents are made when they are not there. Engines that
  ///     keep nothing ignore it.
  ///   - options: How the store is to behave.
  /// - Returns: The open store; the caller closes it.
  /// - Throws: `StoreError` with the path, the operation and a hint.
  nonisolated(nonsending) func openStore(
    named name: String, in directory: String, options: StoreOptions
  ) async throws -> any OrderedStore

  /// Whether several processes may have one store open, also processes with other directories or on other machines, as
  /// on a database server.
  ///
  /// The data of one process, such as the pending writes of a client, then needs a name that no other process uses,
  /// and a lock. `false` unless the provider says otherwise.
  var sharesStores: Bool { get }
}

extension StoreProvider {
  /// No store is open in two processes.
  public var sharesStores: Bool { false }
}

/// How a store is to behave.
public struct StoreOptions: Sendable {
  /// The failures that a commit survives.
  public var durability: StoreDurability

  /// Whether deleted and replaced values are overwritten on disk; for stores that hold credentials.
  ///
  /// Otherwise their bytes stay in free space until that is used again. Engines that keep nothing ignore it. The
  /// write-ahead log is removed when the store is closed.
  public var overwritesDeleted: Bool

  /// The clocks that versions are taken from.
  ///
  /// Engines that take them from elsewhere, such as a server, ignore it.
  public var clock: StoreClock

  /// Options; an option that is not named has its default.
  ///
  /// - Parameters:
  ///   - durability: The failures that a commit survives.
  ///   - overwritesDeleted: Whether deleted and replaced values are overwritten on disk.
  ///   - clock: The clocks that versions are taken from.
  public init(
    durability: StoreDurability = .full, overwritesDeleted: Bool = false, clock: StoreClock = .system
  ) {
    self.durability = durability
    self.overwritesDeleted = overwritesDeleted
    self.clock = clock
  }
}

/// The failures that a commit survives.
public enum StoreDurability: Sendable, Hashable {
  /// When `write` has returned, its changes survive a crash of the process, of the system and a loss of power.
  case full

  /// The store is never damaged, but the last commits before a crash of the system may be lost, newest first. A crash
  /// of the process alone loses nothing.
  case relaxed
}

/// How large keys and values may be, and how stores may be called, in every engine.
public enum StoreLimits {
  /// The longest key: 64 KiB.
  public static let maximumKeyLength = 65_536

  /// The longest value: 16 MiB.
  public static let maximumValueLength = 16_777_216

  /// Refuses what is too long to be put, with the error that `StoreTransaction.put` promises.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The whole key.
  /// - Throws: `keyTooLong` or `valueTooLong`; the message has lengths only, no part of the key or the value.
  public static func check(_ value: [UInt8], for key: [UInt8]) throws(StoreError) {
    if key.count > maximumKeyLength {
      throw StoreError(
        .keyTooLong, operation: "put",
        message: "The key has \(key.count) bytes; at most \(maximumKeyLength) are allowed.",
        hint: "Put the end of it into the value.")
    }
    if value.count > maximumValueLength {
      throw StoreError(
        .valueTooLong, operation: "put",
        message: "The value has \(value.count) bytes; at most \(maximumValueLength) are allowed.",
        hint: "Split it over several keys.")
    }
  }

  /// Whether a store can have a name: 1 to 100 letters, digits, `-`, `_` and `.`, not beginning with a dot.
  ///
  /// - Parameter name: The name of the store.
  public static func isValidName(_ name: String) -> Bool {
    let bytes = name.utf8
    guard (1...100).contains(bytes.count), bytes.first != UInt8(ascii: ".") else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
