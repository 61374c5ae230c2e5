/// The level of a log message: the more important, the smaller the number.
public enum VestaLoggerLevel: Int, Sendable, Comparable, CustomStringConvertible {
  /// A failure that needs attention.
  case error = 3
  /// Something is not as it should be, and was dealt with.
  case warning = 4
  /// Something worth knowing happened; the default.
  case notice = 5
  /// Information about the normal work.
  case info = 6
  /// Details of the work, for debugging.
  case debug = 7

  /// The level with the fewest messages.
  public static var min: VestaLoggerLevel { .error }

  /// The level with the most messages.
  public static var max: VestaLoggerLevel { .debug }

  /// Whether one level has fewer messages than another.
  public static func < (left: VestaLoggerLevel, right: VestaLoggerLevel) -> Bool { left.rawValue < right.rawValue }

  /// The name of the level.
  public var description: String {
    switch self {
    case .error: "error"
    case .warning: "warning"
    case .notice: "notice"
    case .info: "info"
    case .debug: "debug"
    }
  }
}
