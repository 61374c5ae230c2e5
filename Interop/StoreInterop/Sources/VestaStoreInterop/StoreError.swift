/// Why a store could not do what it was asked.
///
/// ```swift
/// do {
///   store = try await provider.openStore(named: "auth", in: directory, options: StoreOptions())
/// } catch StoreError.Code.locked { … }
/// ```
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; open, so that a later kind breaks no `switch`.
  public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The name of the kind, such as "disk-full".
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The store has been closed.
    public static let closed = Self("closed")
    /// A reader or a transaction was used after its body had returned.
    public static let ended = Self("ended")
    /// A transaction would wait for another one that waits for it: on the same store, or crosswise on two stores.
    public static let nested = Self("nested")
    /// The transaction met others too often, and was given up.
    public static let conflict = Self("conflict")
    /// The key is longer than `StoreLimits.maximumKeyLength`.
    public static let keyTooLong = Self("key-too-long")
    /// The value is longer than `StoreLimits.maximumValueLength`.
    public static let valueTooLong = Self("value-too-long")
    /// The bytes of a key are not what a `KeyEncoder` writes.
    public static let malformedKey = Self("malformed-key")
    /// A version is in the future of the store's clock.
    public static let futureVersion = Self("future-version")
    /// The name of the store cannot be used.
    public static let invalidName = Self("invalid-name")
    /// This process has the store open already.
    public static let alreadyOpen = Self("already-open")
    /// Another process has the store open.
    public static let locked = Self("locked")
    /// The file is something else than a store.
    public static let notADatabase = Self("not-a-database")
    /// The file was written by a later version of Vesta.
    public static let newerSchema = Self("newer-schema")
    /// The file is damaged.
    public static let corrupt = Self("corrupt")
    /// The disk, or the quota on it, is full.
    public static let diskFull = Self("disk-full")
    /// The directory or the file cannot be written.
    public static let readOnly = Self("read-only")
    /// The system reported another failure of input or output.
    public static let inputOutput = Self("input-output")
    /// The connection broke during a commit: it may or may not have happened.
    public static let unknownOutcome = Self("unknown-outcome")

    /// The kinds of failure that this version knows.
    public static let allCases: [Code] = [
      .closed, .ended, .nested, .conflict, .keyTooLong, .valueTooLong, .malformedKey, .futureVersion,
      .invalidName, .alreadyOpen, .locked, .notADatabase, .newerSchema, .corrupt,
      .diskFull, .readOnly, .inputOutput, .unknownOutcome,
    ]

    /// Lets `catch StoreError.Code.diskFull` match.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? StoreError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// The operation of the store, such as "open", "read" or "commit".
  public let operation: String

  /// The file or directory; `nil` for a store without one.
  public let path: String?

  /// The cause, in a sentence.
  public let message: String

  /// The way to mend it, in a sentence; `nil` when there is nothing useful to say.
  public let hint: String?

  /// A failure of a store.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - operation: The store's operation.
  ///   - path: The file or directory.
  ///   - message: The cause. No keys and no values: they are the user's.
  ///   - hint: The cure.
  public init(_ code: Code, operation: String, path: String? = nil, message: String, hint: String? = nil) {
    self.code = code
    self.operation = operation
    self.path = path
    self.message = message
    self.hint = hint
  }

  /// Whether the same call may succeed later without help.
  ///
  /// An engine asks its callers to try again for these failures only: a damaged file, a full disk or a lock of another
  /// process need a person, who needs the description.
  public var isPassing: Bool { [.closed, .conflict, .unknownOutcome].contains(code) }

  /// Everything in one line.
  public var description: String {
    var text = "store error \(code) (\(operation)"
    if let path { text += ", \(path)" }
    text += "): \(message)"
    if let hint { text += " \(hint)" }
    return text
  }
}
