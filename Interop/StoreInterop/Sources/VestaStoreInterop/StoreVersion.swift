/// The number of a commit.
///
/// It only grows, across restarts too; it may skip numbers.
public struct StoreVersion: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number itself.
  public let rawValue: UInt64

  /// The version before the first commit.
  public static let zero = StoreVersion(rawValue: 0)

  /// A version from its number.
  ///
  /// - Parameter rawValue: The number that an engine wrote down.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The version that follows this one without a gap.
  public var next: StoreVersion { StoreVersion(rawValue: rawValue + 1) }

  /// Whether one commit came before another.
  public static func < (left: StoreVersion, right: StoreVersion) -> Bool { left.rawValue < right.rawValue }

  /// The number with a `v` before it.
  public var description: String { "v\(rawValue)" }
}
