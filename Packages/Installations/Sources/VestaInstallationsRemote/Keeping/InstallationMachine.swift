public import VestaConcurrency
import VestaInstallationsBackend
import VestaServiceInterop

/// Decides when an installation is created, when its token is renewed, and when the service is left alone; pure.
///
/// Example: a token with 50 minutes left is renewed, the service has forgotten the installation and answers
/// `NOT_FOUND`; the record is dropped, and the next need is a new installation.
///
/// | the service answers | then |
/// |---|---|
/// | `UNAUTHENTICATED`, `NOT_FOUND` to a renewal | the installation is given up, and another one is created |
/// | `INVALID_ARGUMENT`, `FAILED_PRECONDITION`, `OUT_OF_RANGE`, `PERMISSION_DENIED` | no request for a day |
/// | anything else | once more at once, then after 1, 2, 4, ... seconds, at most half an hour |
struct InstallationMachine: Sendable {
  /// An installation with its newest token.
  struct Record: Codable, Sendable, Equatable {
    var id: String
    var refreshToken: String
    var token: String
    /// The end of the token, in microseconds since 1970.
    var end: Int64
    /// When the token was made: a clock that was set back far makes it doubtful.
    var begin: Int64
  }

  /// The work for a credential.
  enum Need: Equatable {
    case nothing(Record)
    case create
    case renew(Record)
    /// The service is not asked again before then.
    case pause(until: Int64, InstallationsServiceError)
  }

  /// The consequence of a failure.
  enum Verdict: Equatable {
    case tryAgain, fail, createAnother
  }

  private struct Pause: Sendable, Equatable {
    var end: Int64
    var error: InstallationsServiceError
  }

  private(set) var record: Record?
  private var failures = 0
  private var pause: Pause?
  private let tuning: InstallationKeeperTuning

  init(_ record: Record? = nil, tuning: InstallationKeeperTuning) {
    self.record = record
    self.tuning = tuning
  }

  func need(now: Int64) -> Need {
    if let record, record.begin <= now, record.end - now > tuning.renewalMargin.microseconds {
      return .nothing(record)
    }
    if let pause, pause.end > now, pause.end - now <= tuning.refusalPause.microseconds {
      return .pause(until: pause.end, pause.error)
    }
    return record.map(Need.renew) ?? .create
  }

  mutating func created(_ made: CreatedInstallation, now: Int64) -> Record {
    succeeded(
      Record(
        id: made.id, refreshToken: made.refreshToken, token: made.token.text, end: Self.end(of: made.token, now),
        begin: now))
  }

  /// - Returns: `nil` where the installation was given up in between.
  mutating func renewed(_ old: Record, _ token: InstallationToken, now: Int64) -> Record? {
    guard record?.id == old.id else { return nil }
    return succeeded(
      Record(
        id: old.id, refreshToken: old.refreshToken, token: token.text, end: Self.end(of: token, now), begin: now))
  }

  private mutating func succeeded(_ record: Record) -> Record {
    (self.record, failures, pause) = (record, 0, nil)
    return record
  }

  /// - Parameters:
  ///   - error: The failure.
  ///   - isRenewal: Whether a token was asked for; otherwise an installation.
  ///   - isSecond: Whether it is the second failure of one request.
  ///   - random: A random number from 0 up to 1.
  mutating func failed(
    _ error: InstallationsServiceError, isRenewal: Bool, isSecond: Bool, now: Int64, random: Double
  ) -> Verdict {
    switch error.code {
    case .unauthenticated where isRenewal, .notFound where isRenewal:
      record = nil
      return .createAnother
    case .cancelled: return .fail
    case .invalidArgument, .failedPrecondition, .outOfRange, .permissionDenied:
      return paused(tuning.refusalPause, error, now)
    default:
      // An installation whose answer was lost is not created a second time at once.
      if !isSecond, error.code != .resourceExhausted, error.code != .deadlineExceeded { return .tryAgain }
      failures += 1
      let pause = tuning.retry.pause(after: failures) { random } ?? tuning.retry.cap
      return paused(max(pause, error.status.retryAfter ?? .zero), error, now)
    }
  }

  private mutating func paused(_ time: Duration, _ error: InstallationsServiceError, _ now: Int64) -> Verdict {
    pause = Pause(end: now + min(time, tuning.refusalPause).microseconds, error: error)
    return .fail
  }

  /// Another service has refused the token: it is renewed before its next use.
  ///
  /// - Returns: Whether the record has changed.
  mutating func tokenWasRefused(_ token: String) -> Bool {
    guard record?.token == token, record?.end != 0 else { return false }
    record?.end = 0
    return true
  }

  /// Gives an installation up.
  ///
  /// - Returns: Whether it was the current one.
  mutating func forget(_ id: String) -> Bool {
    guard record?.id == id else { return false }
    record = nil
    return true
  }

  private static func end(of token: InstallationToken, _ now: Int64) -> Int64 {
    let (end, overflows) = now.addingReportingOverflow(token.lifetime.microseconds)
    return overflows ? .max : end
  }
}

/// Every figure at which the behaviour of an ``InstallationKeeper`` changes; tests draw small ones.
public struct InstallationKeeperTuning: Sendable, Hashable {
  /// The rest of its lifetime below which a token is renewed.
  public var renewalMargin: Duration = .seconds(3_600)

  /// The time for which a service is left alone that has refused a request for good.
  public var refusalPause: Duration = .seconds(86_400)

  /// The pauses after other failures.
  public var retry = Retry(initial: .seconds(1), cap: .seconds(1_800), jitter: .between(1, 1.5))

  /// The time for one request.
  public var callTimeout: Duration = .seconds(60)

  /// Upstream's figures.
  public init() {}
}
