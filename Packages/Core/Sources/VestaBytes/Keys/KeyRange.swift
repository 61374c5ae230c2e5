/// A half-open range of keys in byte order: from `lower` up to, and without, `upper`.
public struct KeyRange: Sendable, Hashable, CustomStringConvertible {
  /// The lower bound: the first key that can be in the range.
  public let lower: [UInt8]

  /// The first key beyond the range; `nil` when the range has no end.
  public let upper: [UInt8]?

  /// Every key there is.
  public static let all = KeyRange(from: [], to: nil)

  /// The keys from one bound up to, and without, another.
  ///
  /// - Parameters:
  ///   - lower: The first key that can be in the range.
  ///   - upper: The first key beyond it; `nil` for no end. At or below `lower` the range is empty.
  public init(from lower: [UInt8], to upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  /// The keys that begin with a prefix, the prefix itself among them.
  ///
  /// - Parameter prefix: The prefix of the keys; empty for every key.
  public init(prefix: [UInt8]) {
    self.init(from: prefix, to: KeyRange.successor(ofPrefix: prefix))
  }

  /// Whether no key can be in the range.
  public var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.lexicographicallyPrecedes(upper)
  }

  /// Whether a key is in the range.
  ///
  /// - Parameter key: The whole key.
  public func contains(_ key: [UInt8]) -> Bool {
    guard !key.lexicographicallyPrecedes(lower) else { return false }
    guard let upper else { return true }
    return key.lexicographicallyPrecedes(upper)
  }

  /// The part of the range after a key.
  ///
  /// - Parameter key: The last key that is not wanted.
  public func after(_ key: [UInt8]) -> KeyRange { KeyRange(from: key + [0], to: upper) }

  /// The part of the range before a key.
  ///
  /// - Parameter key: The first key that is not wanted.
  public func before(_ key: [UInt8]) -> KeyRange { KeyRange(from: lower, to: key) }

  /// The bounds in hexadecimal, cut when they are long.
  public var description: String {
    "\(KeyPrinter.hexadecimal(lower))..<\(upper.map { KeyPrinter.hexadecimal($0) } ?? "end")"
  }

  /// The smallest key that is above every key with the prefix; `nil` when the prefix is all `FF`.
  private static func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    var bound = prefix
    while let last = bound.popLast() {
      if last < 0xFF { return bound + [last + 1] }
    }
    return nil
  }
}
