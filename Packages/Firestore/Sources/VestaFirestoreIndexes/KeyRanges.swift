package import VestaStoreInterop

/// Ranges of keys in order, none of which touches another.
package struct KeyRanges: Hashable, Sendable {
  package private(set) var parts: [KeyRange]

  package static let all = KeyRanges(.all)
  package static let none = KeyRanges(parts: [])

  /// One range; none when it is empty.
  package init(_ range: KeyRange) { parts = range.isEmpty ? [] : [range] }

  private init(parts: [KeyRange]) { self.parts = parts }

  package var isEmpty: Bool { parts.isEmpty }
  package var isAll: Bool { self == .all }

  /// The smallest range that has them all; `nil` for none.
  package var hull: KeyRange? {
    guard let first = parts.first, let last = parts.last else { return nil }
    return KeyRange(from: first.lower, to: last.upper)
  }

  /// Returns the parts of these ranges that are in another one.
  package func intersection(_ range: KeyRange) -> KeyRanges {
    KeyRanges(parts: parts.map { $0.intersection(range) }.filter { !$0.isEmpty })
  }

  /// Returns these ranges without the keys that begin with a prefix.
  package func subtracting(prefix: [UInt8]) -> KeyRanges {
    let hole = KeyRange(prefix: prefix)
    var rest: [KeyRange] = []
    for part in parts {
      rest.append(part.intersection(KeyRange(from: [], to: hole.lower)))
      if let upper = hole.upper { rest.append(part.intersection(KeyRange(from: upper, to: nil))) }
    }
    return KeyRanges(parts: rest.filter { !$0.isEmpty })
  }

  /// The ranges that hold the turned keys.
  package var turned: KeyRanges { KeyRanges(parts: parts.reversed().map(\.turned).filter { !$0.isEmpty }) }

  /// Returns the position of a key relative to the ranges.
  package func position(of key: ArraySlice<UInt8>) -> KeyPosition {
    for part in parts {
      if key.lexicographicallyPrecedes(part.lower) { return .before(part.lower) }
      guard let upper = part.upper else { return .inside }
      if key.lexicographicallyPrecedes(upper) { return .inside }
    }
    return .behind
  }
}

/// The position of a key relative to ranges.
package enum KeyPosition: Equatable {
  case inside
  /// Outside; the next range begins here.
  case before([UInt8])
  /// Behind all of them.
  case behind
}

extension KeyRange {
  /// A range with nothing in it.
  package static let nothing = KeyRange(from: [], to: [])

  /// The keys that are in both.
  package func intersection(_ other: KeyRange) -> KeyRange {
    let lower = self.lower.lexicographicallyPrecedes(other.lower) ? other.lower : self.lower
    guard let mine = upper else { return KeyRange(from: lower, to: other.upper) }
    guard let theirs = other.upper else { return KeyRange(from: lower, to: mine) }
    return KeyRange(from: lower, to: mine.lexicographicallyPrecedes(theirs) ? mine : theirs)
  }

  /// The range of the same keys with every bit turned, which have the opposite order.
  ///
  /// Right for keys none of which begins another one or a bound, which is so for values and names in indexes.
  package var turned: KeyRange {
    if isEmpty { return .nothing }
    var bound: [UInt8] = []
    if let upper {
      guard let after = KeyRange(prefix: upper.turned).upper else { return .nothing }
      bound = after
    }
    return KeyRange(from: bound, to: KeyRange(prefix: lower.turned).upper)
  }

  /// The keys of a range after a prefix, with the prefix.
  package func behind(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(from: prefix + lower, to: upper.map { prefix + $0 } ?? KeyRange(prefix: prefix).upper)
  }
}

extension [UInt8] {
  /// The bytes with every bit turned.
  package var turned: [UInt8] { map { ~$0 } }
}
