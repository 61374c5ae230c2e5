public import VestaDatabaseBackend

/// The keys next to a key, in the alphabet of an SDK: they turn "after a key" into "from the next key".
public struct KeyNeighbors: Sendable {
  private let lowest: Unicode.Scalar
  private let highest: Unicode.Scalar
  private let lower: @Sendable (Unicode.Scalar) -> Unicode.Scalar?
  private let higher: @Sendable (Unicode.Scalar) -> Unicode.Scalar?

  /// The longest key of either SDK.
  public static let maximumLength = 786

  /// The alphabet of the Apple SDK: U+0020 to U+FFFF without the characters that no key can have.
  public static let apple = KeyNeighbors(
    lowest: " ", highest: "\u{FFFF}",
    lower: { step($0, by: -1) }, higher: { step($0, by: 1) })

  /// The alphabet of push ids, which the JavaScript SDK uses.
  public static let pushIDs = KeyNeighbors(
    lowest: "-", highest: "z",
    lower: { PushID.neighbor(of: $0, by: -1) }, higher: { PushID.neighbor(of: $0, by: 1) })

  private init(
    lowest: Unicode.Scalar, highest: Unicode.Scalar,
    lower: @escaping @Sendable (Unicode.Scalar) -> Unicode.Scalar?,
    higher: @escaping @Sendable (Unicode.Scalar) -> Unicode.Scalar?
  ) {
    self.lowest = lowest
    self.highest = highest
    self.lower = lower
    self.higher = higher
  }

  /// The smallest key above a key.
  public func successor(of key: DatabaseKey) -> DatabaseKey {
    if let integer = key.integer {
      return integer == .max ? DatabaseKey(String(lowest)) : DatabaseKey("\(integer + 1)")
    }
    var scalars = Array(key.text.unicodeScalars)
    if scalars.count < Self.maximumLength { return DatabaseKey(key.text + String(lowest)) }
    while let last = scalars.popLast() {
      guard last != highest, let next = higher(last) else { continue }
      return DatabaseKey(text(scalars + [next]))
    }
    return .maximum
  }

  /// The largest key below a key.
  public func predecessor(of key: DatabaseKey) -> DatabaseKey {
    if let integer = key.integer { return integer == .min ? .minimum : DatabaseKey("\(integer - 1)") }
    var scalars = Array(key.text.unicodeScalars)
    guard let last = scalars.popLast() else { return .minimum }
    if last == lowest { return scalars.isEmpty ? DatabaseKey("\(Int32.max)") : DatabaseKey(text(scalars)) }
    scalars.append(lower(last) ?? lowest)
    let padding = Array(repeating: highest, count: max(0, Self.maximumLength - scalars.count))
    return DatabaseKey(text(scalars + padding))
  }

  private func text(_ scalars: [Unicode.Scalar]) -> String { String(String.UnicodeScalarView(scalars)) }

  /// The next scalar that a key can have, in the order of UTF-16 code units; `nil` beyond the ends.
  private static func step(_ scalar: Unicode.Scalar, by step: Int) -> Unicode.Scalar? {
    var value = Int(scalar.value) + step
    while (0x20...0x10FFFF).contains(value) {
      if let next = Unicode.Scalar(UInt32(value)), KeyRules.isAllowed(next) { return next }
      value += step
    }
    return nil
  }
}
