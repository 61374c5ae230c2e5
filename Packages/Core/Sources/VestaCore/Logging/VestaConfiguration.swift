import Synchronization
import VestaConcurrency

/// Settings of the whole process.
public final class VestaConfiguration: Sendable {
  /// The one configuration of this process.
  public static let shared = VestaConfiguration()

  private let level = Atomic(VestaLoggerLevel.notice.rawValue)
  private let currentSink = Locked<any LogSink>(StandardErrorSink())

  private init() {}

  /// Sets which messages are logged.
  ///
  /// - Parameter loggerLevel: The least important level that is still logged.
  public func setLoggerLevel(_ loggerLevel: VestaLoggerLevel) {
    level.store(loggerLevel.rawValue, ordering: .relaxed)
  }

  /// The least important level that is logged; `.notice` unless it was set.
  public func loggerLevel() -> VestaLoggerLevel {
    VestaLoggerLevel(rawValue: level.load(ordering: .relaxed)) ?? .notice
  }

  /// Sends the log messages of the whole process elsewhere.
  ///
  /// - Parameter sink: Where they go from here on.
  public func setLogSink(_ sink: any LogSink) {
    let previous = currentSink.withLock { current in
      defer { current = sink }
      return current
    }
    withExtendedLifetime(previous) {}
  }

  var sink: any LogSink { currentSink.withLock { $0 } }

  func isLogged(_ level: VestaLoggerLevel) -> Bool { level.rawValue <= self.level.load(ordering: .relaxed) }
}
