/// Keeps sessions from one run of a program to the next.
///
/// Auth reads it when the current user is first needed and writes it at each change. An app brings its own by
/// contributing a component for `any CredentialStore`; without one, Auth keeps the session in a file of the app's
/// directory, see ``FileCredentialStore``.
///
/// ```swift
/// enum KeychainLibrary: Library {
///   static let name = "my-keychain", version = "1.0.0"
///   static func components() -> [Component] {
///     [Component((any CredentialStore).self) { _, isCacheable in isCacheable = true; return KeychainStore() }]
///   }
/// }
/// ```
///
/// What an implementation promises, and may rely on:
/// - What is not there is `nil`, and what cannot be read is an error: Auth signs nobody out for an error, and asks again.
/// - A write is whole or not there, also after a crash.
/// - Auth calls it from its work queue, one call at a time. It must be quick, and must not call Auth: that would stop the
///   process with a sentence that says so.
public protocol CredentialStore: Sendable {
  /// What was saved last under a key.
  ///
  /// - Parameter key: The key; any text.
  /// - Returns: The bytes; `nil` when there are none.
  /// - Throws: `unreadable` when the store cannot tell at the moment; `corrupted` when what was there is damaged, and has
  ///   been put aside.
  func load(_ key: String) throws(CredentialStoreError) -> [UInt8]?

  /// Keeps bytes under a key, in the place of what was there.
  ///
  /// - Parameters:
  ///   - bytes: The bytes; they hold secrets.
  ///   - key: The key.
  /// - Throws: `unwritable`; what was there before is there still.
  func save(_ bytes: [UInt8], for key: String) throws(CredentialStoreError)

  /// Forgets what is kept under a key; what is not there is forgotten already.
  ///
  /// - Parameter key: The key.
  /// - Throws: `unwritable`; what was there before is there still.
  func remove(_ key: String) throws(CredentialStoreError)

  /// Puts what is kept under a key out of the way without deleting it, because Auth cannot make sense of it.
  ///
  /// - Parameter key: The key; nothing is kept under it afterwards.
  /// - Returns: Where it can be looked at.
  /// - Throws: `unwritable`; it is where it was.
  func setAside(_ key: String) throws(CredentialStoreError) -> String
}

/// Why a ``CredentialStore`` could not do what it was asked.
public struct CredentialStoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; more kinds may come.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The store cannot be read at the moment; that says nothing about what is in it.
    public static let unreadable = Self("unreadable")
    /// What was in the store is damaged; it has been put aside, and nothing is kept under the key any more.
    public static let corrupted = Self("corrupted")
    /// The store cannot be written at the moment.
    public static let unwritable = Self("unwritable")

    /// Lets `catch CredentialStoreError.Code.unreadable` match.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - error: Any error.
    /// - Returns: `true` when the error has that code.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? CredentialStoreError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// What happened and what to do about it; no secrets in it.
  public let message: String

  /// The error behind this one.
  public let underlying: (any Error)?

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: What happened and what to do about it.
  ///   - underlying: The error behind it.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// The code, the message and the cause.
  public var description: String {
    guard let underlying else { return "\(code): \(message)" }
    return "\(code): \(message) Cause: \(underlying)"
  }
}
