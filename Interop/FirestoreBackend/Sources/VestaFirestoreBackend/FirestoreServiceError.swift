/// Why a backend refused a call, or what became of a target.
///
/// ```swift
/// do {
///   _ = try await backend.commit(request, context: context)
/// } catch let error as FirestoreServiceError where error.code == .aborted {
///   // Somebody else was faster: read again and try again.
/// }
/// ```
public struct FirestoreServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A canonical status code; open, because a peer may send any number.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number as the wire has it.
    public let rawValue: Int

    /// A code by its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The caller has gone.
    public static let cancelled = Code(rawValue: 1)
    /// Something that has no code of its own.
    public static let unknown = Code(rawValue: 2)
    /// The request can never be right.
    public static let invalidArgument = Code(rawValue: 3)
    /// The call took too long; it may have happened.
    public static let deadlineExceeded = Code(rawValue: 4)
    /// A document that should be there is not.
    public static let notFound = Code(rawValue: 5)
    /// A document that should not be there is.
    public static let alreadyExists = Code(rawValue: 6)
    /// The caller may not do this.
    public static let permissionDenied = Code(rawValue: 7)
    /// A quota is used up.
    public static let resourceExhausted = Code(rawValue: 8)
    /// The database is not in the state that the request needs.
    public static let failedPrecondition = Code(rawValue: 9)
    /// Another transaction was in the way: try again.
    public static let aborted = Code(rawValue: 10)
    /// Beyond the end of what there is.
    public static let outOfRange = Code(rawValue: 11)
    /// This backend cannot do it.
    public static let unimplemented = Code(rawValue: 12)
    /// The backend is at fault.
    public static let `internal` = Code(rawValue: 13)
    /// The backend cannot be reached now: try again.
    public static let unavailable = Code(rawValue: 14)
    /// Data has been lost.
    public static let dataLoss = Code(rawValue: 15)
    /// The caller's token is missing or not valid.
    public static let unauthenticated = Code(rawValue: 16)

    /// The name as the wire writes it, such as `INVALID_ARGUMENT`; `CODE_` and the number for an unknown one.
    public var description: String {
      Code.names.indices.contains(rawValue) ? Code.names[rawValue] : "CODE_\(rawValue)"
    }

    /// Lets `catch let error as FirestoreServiceError where error.code == .aborted` match.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? FirestoreServiceError)?.code == code }

    private static let names = [
      "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
      "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
      "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]
  }

  /// The kind of failure.
  public let code: Code

  /// What happened, in a text that names the part of the request that is wrong.
  public let message: String

  /// A failure.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and text.
  public var description: String { "\(code): \(message)" }
}
