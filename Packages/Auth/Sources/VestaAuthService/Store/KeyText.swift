/// Texts and numbers as parts of a key, so that byte order is the order of the parts.
///
/// A text ends with 00 01, and a 00 in it becomes 00 FF: so a text sorts before those that go on from it, and no part
/// can run into the next one. A number is eight bytes, big-endian, sign flipped.
struct KeyText: Equatable {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  /// The key with a text behind it.
  func text(_ text: String) -> KeyText {
    var key = bytes
    for byte in text.utf8 {
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
    }
    return KeyText(key + [0, 1])
  }

  /// The key with a number behind it.
  func number(_ number: Int64) -> KeyText {
    let bits = UInt64(bitPattern: number) ^ (1 << 63)
    return KeyText(bytes + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) })
  }

  /// The key with bytes behind it, which end the key.
  func tail(_ tail: [UInt8]) -> KeyText { KeyText(bytes + tail) }
}

/// Takes a key apart again; every read gives `nil` where the key is not what it should be.
struct KeyTextReader {
  private var rest: ArraySlice<UInt8>

  init(_ key: some Sequence<UInt8>) { rest = Array(key)[...] }

  /// What has not been read.
  var tail: [UInt8] { Array(rest) }

  mutating func byte() -> UInt8? { rest.popFirst() }

  mutating func text() -> String? {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      guard byte == 0 else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case 1: return String(validating: bytes, as: UTF8.self)
      case 0xFF: bytes.append(0)
      default: return nil
      }
    }
    return nil
  }

  mutating func number() -> Int64? {
    guard rest.count >= 8 else { return nil }
    let bits = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    rest.removeFirst(8)
    return Int64(bitPattern: bits ^ (1 << 63))
  }
}
