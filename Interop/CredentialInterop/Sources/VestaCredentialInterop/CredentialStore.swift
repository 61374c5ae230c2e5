/// Keeps sessions from one run of a program to the next: a keychain, an encrypted file, a vault.
///
/// Auth reads it when the current user is first needed and writes it at each change. An app registers a store of its
/// own as a component; without one, Auth keeps the session in a file of the app's directory. A store that is registered
/// and cannot be created is an error, and never replaced by that file.
///
/// ```swift
/// enum VaultLibrary: Library {
///   static let name = "my-vault", version = "1.0.0"
///   static func components() -> [Component] {
///     [
///       Component((any CredentialStore).self) { _, isCacheable in
///         isCacheable = true
///         return try VaultStore(key: try vaultKey())
///       }
///     ]
///   }
/// }
/// ```
///
/// Promises of every implementation; `VestaCredentialInteropContracts` checks them:
/// - An absent value is `nil`, an unreadable one is an error: Auth signs no user out for an error, and asks again.
/// - A write is whole or absent, also after a crash. A write that fails leaves the bytes of before.
/// - Keys are any strings; two keys never share an entry.
///
/// An implementation may rely on this: Auth calls it from its work queue, one call at a time. It must be quick, and
/// must not call Auth: that would stop the process with a sentence that says so.
public protocol CredentialStore: Sendable {
  /// Returns the bytes that were saved last under a key.
  ///
  /// - Parameter key: The key; any string.
  /// - Returns: The bytes; `nil` when there are none.
  /// - Throws: `unreadable` when the store cannot be read now; `corrupted` when the bytes are damaged and have
  ///   been put aside.
  func load(_ key: String) throws(CredentialStoreError) -> [UInt8]?

  /// Saves bytes under a key, in place of the bytes of before.
  ///
  /// - Parameters:
  ///   - bytes: The bytes; they hold secrets.
  ///   - key: The key.
  /// - Throws: `unwritable`; the bytes of before are still there.
  func save(_ bytes: [UInt8], for key: String) throws(CredentialStoreError)

  /// Deletes the bytes under a key; does nothing where there are none.
  ///
  /// - Parameter key: The key.
  /// - Throws: `unwritable`; the bytes are still there.
  func remove(_ key: String) throws(CredentialStoreError)

  /// Moves the bytes under a key out of the way without deleting them, because Auth cannot decode them.
  ///
  /// - Parameter key: The key; there are no bytes under it afterwards.
  /// - Returns: Where a person can look at them.
  /// - Throws: `unwritable`; the bytes are where they were.
  func setAside(_ key: String) throws(CredentialStoreError) -> String
}
