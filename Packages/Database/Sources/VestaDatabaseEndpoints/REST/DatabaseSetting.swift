import VestaBytes
import VestaServiceInterop

/// A setting of a database that tools read and set, `/.settings/<name>.json`.
///
/// Its value is the one that the server acts by. Another value of the setting is refused: no tool is told that writes
/// are limited when they are not.
enum DatabaseSetting: String, Sendable, CaseIterable {
  /// The writes that are refused for the time that they are estimated to take: none.
  case defaultWriteSizeLimit
  /// Whether a write fails whose events are too many or too large: it does not.
  case strictTriggerValidation

  /// - Returns: `nil` for the path of another call.
  init?(path: Substring) {
    guard let known = Self.allCases.first(where: { path == "/.settings/\($0.rawValue).json" }) else { return nil }
    self = known
  }

  /// The value that the server acts by.
  var value: JSONValue {
    switch self {
    case .defaultWriteSizeLimit: "unlimited"
    case .strictTriggerValidation: false
    }
  }

  private var values: [JSONValue] {
    switch self {
    case .defaultWriteSizeLimit: ["tiny", "small", "medium", "large", "unlimited"]
    case .strictTriggerValidation: [true, false]
    }
  }

  /// Checks a value that a tool sets.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a value that the setting does not have; `UNIMPLEMENTED` for one that the server
  ///   does not act by.
  func set(_ body: [UInt8]) throws(ServiceStatus) {
    guard let wanted = try? JSONValue(json: body), values.contains(wanted) else {
      throw ServiceStatus(.invalidArgument, "The setting \(rawValue) has no such value.")
    }
    guard wanted == value else {
      throw ServiceStatus(.unimplemented, "This server has the setting \(rawValue) with one value only.")
    }
  }
}
