import VestaBytes

/// The JSON that Apple's clients write: names without quotes, and strings in single quotes.
///
/// Everything else, also a strict object inside, is JSON.
enum RelaxedJSON {
  /// Reads an object.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  static func object(_ bytes: [UInt8], limits: JSONLimits) throws(BytesError) -> JSONObject {
    guard bytes.count <= limits.maximumSize else {
      throw BytesError(.limitExceeded, "JSON: the text is longer than \(limits.maximumSize) bytes")
    }
    return try JSONObject(json: strict(bytes), limits: JSONLimits(maximumSize: 2 * limits.maximumSize + 1_024))
  }

  /// The text as strict JSON, as far as it can be; what is wrong stays wrong.
  private static func strict(_ bytes: [UInt8]) -> [UInt8] {
    var strict: [UInt8] = []
    strict.reserveCapacity(bytes.count + 64)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): index = string(bytes, from: index, to: &strict)
      case let byte where isLetter(byte): index = word(bytes, from: index, to: &strict)
      case let byte:
        strict.append(byte)
        index += 1
      }
    }
    return strict
  }

  /// Copies a string, in double quotes whatever its quotes are; returns the index after it.
  private static func string(_ bytes: [UInt8], from start: Int, to strict: inout [UInt8]) -> Int {
    let quote = bytes[start]
    var index = start + 1
    strict.append(UInt8(ascii: "\""))
    while index < bytes.count, bytes[index] != quote {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\\"), index + 1 < bytes.count {
        if bytes[index + 1] != UInt8(ascii: "'") { strict.append(byte) }
        strict.append(bytes[index + 1])
        index += 2
        continue
      }
      if byte == UInt8(ascii: "\"") { strict.append(UInt8(ascii: "\\")) }
      strict.append(byte)
      index += 1
    }
    if index < bytes.count { strict.append(UInt8(ascii: "\"")) }
    return index + 1
  }

  /// Copies a word: a name in quotes when a colon follows it, otherwise as it is; returns the index after it.
  private static func word(_ bytes: [UInt8], from start: Int, to strict: inout [UInt8]) -> Int {
    var end = start
    while end < bytes.count, isLetter(bytes[end]) || bytes[end] &- 48 < 10 { end += 1 }
    var next = end
    while next < bytes.count, bytes[next] == 32 { next += 1 }
    let isName = next < bytes.count && bytes[next] == UInt8(ascii: ":")
    if isName { strict.append(UInt8(ascii: "\"")) }
    strict += bytes[start..<end]
    if isName { strict.append(UInt8(ascii: "\"")) }
    return end
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 32) &- 97 < 26 || byte == UInt8(ascii: "_") }
}
