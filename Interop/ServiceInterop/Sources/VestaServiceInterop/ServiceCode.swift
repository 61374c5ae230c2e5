/// The sixteen canonical status codes of a failed call, as gRPC and Google's APIs have them.
///
/// Each product has a separate error type over these codes.
public enum ServiceCode: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// The caller has cancelled the call.
  case cancelled = 1
  /// A failure without a specific code.
  case unknown = 2
  /// The request is wrong whatever the state of the service.
  case invalidArgument = 3
  /// The deadline passed before the call was done; a remote call may have taken effect.
  case deadlineExceeded = 4
  /// Something that the request names does not exist.
  case notFound = 5
  /// Something that the request creates exists already.
  case alreadyExists = 6
  /// The caller is known and may not do this.
  case permissionDenied = 7
  /// A quota is used up, or a disk is full.
  case resourceExhausted = 8
  /// The service is not in the state that the request needs; do not try again before that has changed.
  case failedPrecondition = 9
  /// Another call was in the way, such as a conflicting transaction: try the whole operation again.
  case aborted = 10
  /// The request is beyond the valid range, such as past the end of a file.
  case outOfRange = 11
  /// The service does not support the operation.
  case unimplemented = 12
  /// An invariant of the service is broken.
  case `internal` = 13
  /// The service cannot be reached now: try again later.
  case unavailable = 14
  /// Data is lost or damaged for good.
  case dataLoss = 15
  /// The caller's credentials are missing or not valid.
  case unauthenticated = 16

  /// The code for a number from the wire; ``unknown`` for a number that is none of the sixteen.
  ///
  /// - Parameter number: The number; not 0, which is success.
  public init(wire number: Int) { self = ServiceCode(rawValue: number) ?? .unknown }

  /// The code with a name as the wire writes it, such as `INVALID_ARGUMENT`; `nil` for another name.
  ///
  /// - Parameter name: The name.
  public init?(name: String) {
    guard let index = Self.names.firstIndex(of: name), let code = ServiceCode(rawValue: index + 1) else { return nil }
    self = code
  }

  /// The name as the wire writes it, such as `INVALID_ARGUMENT`.
  public var name: String { Self.names[rawValue - 1] }

  /// The name.
  public var description: String { name }

  /// The HTTP status that carries the code.
  public var httpStatus: Int {
    switch self {
    case .cancelled: 499
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .unauthenticated: 401
    case .permissionDenied: 403
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .resourceExhausted: 429
    case .unimplemented: 501
    case .unavailable: 503
    case .deadlineExceeded: 504
    case .unknown, .internal, .dataLoss: 500
    }
  }

  /// The code for an HTTP status without one.
  ///
  /// - Parameter status: The status; not one of success.
  public init(httpStatus status: Int) {
    switch status {
    case 400: self = .invalidArgument
    case 401: self = .unauthenticated
    case 403: self = .permissionDenied
    case 404: self = .notFound
    case 409: self = .aborted
    case 416: self = .outOfRange
    case 429: self = .resourceExhausted
    case 499: self = .cancelled
    case 501: self = .unimplemented
    case 503: self = .unavailable
    case 504: self = .deadlineExceeded
    case 500...599: self = .internal
    case 400...499: self = .failedPrecondition
    default: self = .unknown
    }
  }

  /// Whether the same call may succeed later.
  public var isTransient: Bool {
    switch self {
    case .unavailable, .deadlineExceeded, .resourceExhausted, .aborted, .internal, .unknown, .cancelled: true
    default: false
    }
  }

  private static let names = [
    "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
  ]
}
