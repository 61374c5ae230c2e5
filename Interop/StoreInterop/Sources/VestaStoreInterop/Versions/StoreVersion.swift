/// The version of a commit: its commit time, in microseconds since 1970.
///
/// Versions grow strictly, across restarts and clock changes too. While the wall clock behaves, a version is the wall
/// clock's time of the commit; `VersionClock` says what happens when it does not.
public struct StoreVersion: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The microseconds since 1970.
  public let rawValue: UInt64

  /// The version before the first commit.
  public static let zero = StoreVersion(rawValue: 0)

  /// A version from its number.
  ///
  /// - Parameter rawValue: The microseconds since 1970.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The version of a commit at a time.
  ///
  /// - Parameter microseconds: The microseconds since 1970; a time before 1970 becomes `zero`.
  public init(microseconds: Int64) { rawValue = UInt64(max(microseconds, 0)) }

  /// The commit time in microseconds since 1970.
  public var microseconds: Int64 { Int64(clamping: rawValue) }

  /// The smallest version after this one.
  public var next: StoreVersion { StoreVersion(rawValue: rawValue == .max ? .max : rawValue + 1) }

  /// Whether one commit precedes another.
  public static func < (left: StoreVersion, right: StoreVersion) -> Bool { left.rawValue < right.rawValue }

  /// The number with a `v` before it.
  public var description: String { "v\(rawValue)" }
}
