#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Logs the messages of one part of Vesta.
///
/// A message above the level of `VestaConfiguration` costs one atomic read; its text is never composed.
///
/// ```swift
/// private let log = Logger(service: "VestaAuth")
/// log.warning("I-AUT000017", "The credential file could not be read: \(error)")
/// ```
public struct Logger: Sendable {
  /// The module that logs here.
  public let service: String

  /// A logger for one part of Vesta.
  ///
  /// - Parameter service: Its name, such as "VestaAuth".
  public init(service: String) { self.service = service }

  /// Logs a message.
  ///
  /// - Parameters:
  ///   - level: How important it is.
  ///   - code: A short code that names this message among all others.
  ///   - message: The cause. No secrets, no user data.
  public func log(_ level: VestaLoggerLevel, _ code: String, _ message: @autoclosure () -> String) {
    let configuration = VestaConfiguration.shared
    guard configuration.isLogged(level) else { return }
    configuration.sink.write(LogEntry(date: Date(), level: level, service: service, code: code, message: message()))
  }

  /// Logs a failure that needs attention.
  public func error(_ code: String, _ message: @autoclosure () -> String) { log(.error, code, message()) }

  /// Logs that something is not as it should be and was dealt with.
  public func warning(_ code: String, _ message: @autoclosure () -> String) { log(.warning, code, message()) }

  /// Logs that something worth knowing happened.
  public func notice(_ code: String, _ message: @autoclosure () -> String) { log(.notice, code, message()) }

  /// Logs what Vesta is doing.
  public func info(_ code: String, _ message: @autoclosure () -> String) { log(.info, code, message()) }

  /// Logs what Vesta is doing, in detail.
  public func debug(_ code: String, _ message: @autoclosure () -> String) { log(.debug, code, message()) }
}
