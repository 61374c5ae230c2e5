/// Taking strings apart by bytes, without going from index to index where the bytes lie in one piece.
extension Substring.UTF8View {
  /// The strings between the separators, empty ones too.
  package func split(separator: UInt8) -> [String] {
    // Unsafe pointer, used inside the closure only: native texts are read at the speed of memory.
    if let parts = withContiguousStorageIfAvailable({ Self.split($0, separator: separator) }) { return parts }
    return Array(self).withUnsafeBufferPointer { Self.split($0, separator: separator) }
  }

  private static func split(_ bytes: UnsafeBufferPointer<UInt8>, separator: UInt8) -> [String] {
    var parts: [String] = []
    var (start, index) = (0, 0)
    // Without an iterator, whose pairs take most of the time of a path where nothing is optimised.
    while index < bytes.count {
      if bytes[index] == separator {
        parts.append(String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self))
        start = index + 1
      }
      index += 1
    }
    parts.append(String(decoding: UnsafeBufferPointer(rebasing: bytes[start...]), as: UTF8.self))
    return parts
  }
}

extension String.UTF8View {
  /// Returns the string after a prefix; `nil` when it does not begin with the prefix.
  package func dropping(prefix: String.UTF8View) -> Substring.UTF8View? {
    guard count >= prefix.count else { return nil }
    // Unsafe pointers, used inside the closures only.
    let begins = withContiguousStorageIfAvailable { bytes in
      prefix.withContiguousStorageIfAvailable { Self.begins(bytes, with: $0) }
    }
    guard (begins ?? nil) ?? starts(with: prefix) else { return nil }
    return self[index(startIndex, offsetBy: prefix.count)...]
  }

  private static func begins(_ bytes: UnsafeBufferPointer<UInt8>, with prefix: UnsafeBufferPointer<UInt8>) -> Bool {
    var offset = 0
    while offset < prefix.count {
      if bytes[offset] != prefix[offset] { return false }
      offset += 1
    }
    return true
  }
}
