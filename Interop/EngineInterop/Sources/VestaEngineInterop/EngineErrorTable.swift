import VestaBytes
import VestaEventsInterop
public import VestaServiceInterop
public import VestaStoreInterop

/// The status of a call that failed because of something below the engine; one table for all products, pure.
///
/// It is decided by what a client should do next:
///
/// | below the engine | status | next |
/// |---|---|---|
/// | conflict of transactions | `ABORTED` | repeat the whole operation |
/// | store closed | `UNAVAILABLE` | try again: the service restarts |
/// | failure of input or output | `UNAVAILABLE`, after 10 s | try again; the message is for the operator |
/// | outcome of a commit unknown | `DEADLINE_EXCEEDED` | read, then repeat what may be repeated |
/// | disk full, event queue full | `RESOURCE_EXHAUSTED`, after 60 s | try again later; keep what is to be written |
/// | damaged file, damaged row | `DATA_LOSS` | do not try again: restore, as the message says |
/// | key or value too long, version in the future | `INVALID_ARGUMENT` | send another request |
/// | store locked, read-only, of a later version, no store | `INTERNAL` | keep what is to be written: the operator acts |
/// | store misused by the engine | `INTERNAL` | report the defect |
///
/// A commit of unknown outcome is not `UNAVAILABLE`, because libraries repeat such a call by themselves, and would
/// apply it twice. A fault that the operator has to mend is `INTERNAL`, and not `FAILED_PRECONDITION`, because clients
/// give up writes for that.
///
/// Every status of the store carries an `errorInfo` detail with the kind of failure, such as `DISK_FULL`, in the domain
/// ``domain``, so that a product can add its own reason.
public enum EngineErrorTable {
  /// The domain of the reasons, which are the codes of `StoreError` in upper case.
  public static let domain = "store"

  /// The status for an error of a store, a row or an outbox; `nil` for an unknown error.
  ///
  /// - Parameter error: The error.
  public static func status(for error: any Error) -> ServiceStatus? {
    switch error {
    case let error as StoreError: status(of: error)
    case let error as EventOutboxFull:
      ServiceStatus(.resourceExhausted, error.description, details: [.retryInfo(after: longPause)])
    case let error as BytesError: ServiceStatus(.dataLoss, "\(error)")
    default: nil
    }
  }

  /// The status for an error of a store; its message says what to do, and names no rows.
  ///
  /// - Parameter error: The error of the store.
  public static func status(of error: StoreError) -> ServiceStatus {
    let row = rows[error.code] ?? Row(code: .internal)
    var details: [ErrorDetail] = [.errorInfo(reason: reason(of: error.code), domain: domain)]
    if let pause = row.retryAfter { details.append(.retryInfo(after: pause)) }
    return ServiceStatus(row.code, error.description, details: details)
  }

  /// The reason of a kind of failure, such as `DISK_FULL`.
  ///
  /// - Parameter code: The kind of failure.
  public static func reason(of code: StoreError.Code) -> String {
    String(code.description.map { $0 == "-" ? "_" : $0 }).uppercased()
  }

  struct Row: Sendable {
    var code: ServiceCode
    var retryAfter: Duration?
  }

  private static let shortPause = Duration.seconds(10)
  private static let longPause = Duration.seconds(60)

  static let rows: [StoreError.Code: Row] = [
    .closed: Row(code: .unavailable),
    .ended: Row(code: .internal),
    .nested: Row(code: .internal),
    .conflict: Row(code: .aborted),
    .keyTooLong: Row(code: .invalidArgument),
    .valueTooLong: Row(code: .invalidArgument),
    .malformedKey: Row(code: .dataLoss),
    .futureVersion: Row(code: .invalidArgument),
    .invalidName: Row(code: .internal),
    .alreadyOpen: Row(code: .internal),
    .locked: Row(code: .internal),
    .notADatabase: Row(code: .internal),
    .newerSchema: Row(code: .internal),
    .corrupt: Row(code: .dataLoss),
    .diskFull: Row(code: .resourceExhausted, retryAfter: longPause),
    .readOnly: Row(code: .internal),
    .inputOutput: Row(code: .unavailable, retryAfter: shortPause),
    .unknownOutcome: Row(code: .deadlineExceeded),
  ]
}
