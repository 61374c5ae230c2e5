#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where log messages go.
///
/// Give an own one to `VestaConfiguration.setLogSink(_:)` to send them elsewhere.
public protocol LogSink: Sendable {
  /// Takes a message. Called on the thread that logs, with no lock held, from several threads at once.
  ///
  /// - Parameter entry: The message and its circumstances.
  func write(_ entry: LogEntry)
}

/// A log message and its circumstances.
public struct LogEntry: Sendable, CustomStringConvertible {
  /// When it was logged.
  public let date: Date

  /// The level.
  public let level: VestaLoggerLevel

  /// The module that logged the message, such as "VestaAuth".
  public let service: String

  /// A short code that names this message among all others, such as "I-AUT000017".
  public let code: String

  /// The message.
  public let message: String

  /// One line with everything in it.
  public var description: String {
    "\(date.formatted(.iso8601)) [\(level)] \(service) \(code): \(message)"
  }
}

/// Writes each message as a line to the standard error output.
public struct StandardErrorSink: LogSink {
  /// The sink that is in use until another is set.
  public init() {}

  /// Writes the message as one line.
  public func write(_ entry: LogEntry) { writeToStandardError(entry.description) }
}
