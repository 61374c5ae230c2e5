package import VestaFirestoreBackend

/// Walks over what an `IndexEncoder` has written, value by value.
///
/// Values are not read back but measured: an index is asked for a range of bytes. Numbers are the exception,
/// for sums are made of them.
package struct IndexReader: Sendable {
  private let bytes: [UInt8]
  /// The position of the next value.
  package private(set) var position: Int
  /// The mask that inverts the bytes of a descending value.
  private var mask: UInt8 = 0

  /// A reader of bytes that begin with values, as far as the caller asks for them.
  package init(_ bytes: [UInt8], from position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  /// Moves after the next value; `false` when there is none.
  package mutating func skip(descending: Bool) -> Bool {
    mask = descending ? 0xFF : 0
    return value() != .damaged
  }

  /// Reads the next value if it is a number, and moves after it.
  ///
  /// - Parameters:
  ///   - descending: The direction of the value.
  ///   - isDouble: Whether a number that could be both is a double and no integer.
  /// - Returns: The number; null for a value of another kind; `nil` when there is no value.
  package mutating func number(descending: Bool, isDouble: Bool) -> Value? {
    mask = descending ? 0xFF : 0
    let start = position
    guard let tag = peek(), value() != .damaged else { return nil }
    if tag == IndexTag.nan { return .double(.nan) }
    guard tag == IndexTag.number else { return .null }
    let base = IndexNumber.double(from: number(at: start + 1, count: 8))
    let isWhole = base == base.rounded(.towardZero) && base >= -0x1p63 && base < 0x1p63
    guard !isDouble, isWhole else { return .double(base) }
    let rest = IndexNumber.hasRest(base) ? number(at: start + 9, count: 2) : 0
    return .integer(Int64(base) &+ Int64(rest))
  }

  /// The end mark of a value.
  private enum Ending {
    case whole
    /// It was cut, so that nothing follows, not even the ends of what it is in.
    case cut
    case damaged
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] ^ mask : nil }

  private mutating func next() -> UInt8? {
    guard let byte = peek() else { return nil }
    position += 1
    return byte
  }

  private mutating func skip(_ count: Int) -> Ending {
    position += count
    return position <= bytes.count ? .whole : .damaged
  }

  private func number(at start: Int, count: Int) -> UInt64 {
    bytes[start..<start + count].reduce(0) { $0 << 8 | UInt64($1 ^ mask) }
  }

  private mutating func value() -> Ending {
    guard let tag = next() else { return .damaged }
    switch tag {
    case IndexTag.null, IndexTag.no, IndexTag.yes, IndexTag.nan: return .whole
    case IndexTag.number:
      guard position + 8 <= bytes.count else { return .damaged }
      return skip(IndexNumber.hasRest(IndexNumber.double(from: number(at: position, count: 8))) ? 10 : 8)
    case IndexTag.timestamp, IndexTag.serverTimestamp: return skip(12)
    case IndexTag.string, IndexTag.bytes: return text()
    case IndexTag.reference: return segments()
    case IndexTag.geoPoint: return skip(16)
    case IndexTag.array: return elements()
    case IndexTag.vector: return skip(4) == .whole ? elements() : .damaged
    case IndexTag.map: return entries()
    default: return .damaged
    }
  }

  private mutating func text() -> Ending {
    while let byte = next() {
      guard byte == 0 else { continue }
      switch next() {
      case 0xFF?: continue
      case IndexTag.textEnd?: return .whole
      case IndexTag.textCut?: return .cut
      default: return .damaged
      }
    }
    return .damaged
  }

  private mutating func segments() -> Ending {
    while let byte = next() {
      switch byte {
      case IndexTag.end: return .whole
      case IndexTag.numberSegment: if skip(8) != .whole { return .damaged }
      case IndexTag.textSegment:
        let ending = text()
        if ending != .whole { return ending }
      default: return .damaged
      }
    }
    return .damaged
  }

  /// The end of an array or a map, if that is next.
  private mutating func ending() -> Ending? {
    switch peek() {
    case IndexTag.end?: position += 1
    case IndexTag.cut?:
      position += 1
      return .cut
    default: return nil
    }
    return .whole
  }

  private mutating func elements() -> Ending {
    while true {
      if let ending = ending() { return ending }
      let element = value()
      if element != .whole { return element }
    }
  }

  private mutating func entries() -> Ending {
    while true {
      if let ending = ending() { return ending }
      guard next() == IndexTag.string else { return .damaged }
      let name = text()
      if name != .whole { return name }
      // The name may have used up what there is for the value.
      if peek() == IndexTag.cut {
        position += 1
        return .cut
      }
      let value = value()
      if value != .whole { return value }
    }
  }
}

extension IndexNumber {
  /// The double that has these bits, as `bits(of:)` returns them.
  static func double(from bits: UInt64) -> Double {
    Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }
}

extension IndexEncoder {
  /// The first byte of the values that a range filter with this operand looks at, and the first one after them.
  ///
  /// Values of the operand's class, without NaN among the numbers unless it is the operand.
  package static func tags(besides operand: Value) -> Range<UInt8> {
    switch ValueClass(of: operand) {
    case .null: IndexTag.null..<IndexTag.null + 1
    case .boolean: IndexTag.no..<IndexTag.yes + 1
    case .number: (encode(operand) == [IndexTag.nan] ? IndexTag.nan : IndexTag.number)..<IndexTag.number + 1
    case .timestamp: IndexTag.timestamp..<IndexTag.timestamp + 1
    case .serverTimestamp: IndexTag.serverTimestamp..<IndexTag.serverTimestamp + 1
    case .string: IndexTag.string..<IndexTag.string + 1
    case .bytes: IndexTag.bytes..<IndexTag.bytes + 1
    case .reference: IndexTag.reference..<IndexTag.reference + 1
    case .geoPoint: IndexTag.geoPoint..<IndexTag.geoPoint + 1
    case .array: IndexTag.array..<IndexTag.array + 1
    case .vector: IndexTag.vector..<IndexTag.vector + 1
    case .map: IndexTag.map..<IndexTag.map + 1
    }
  }
}
