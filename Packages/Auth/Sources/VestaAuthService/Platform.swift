// What depends on the platform in this module stands here.

import Foundation

/// The system's clock: milliseconds since 1970.
@Sendable func systemMilliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

/// Writes a record as JSON, names in order, so that equal records have equal bytes.
func encodeJSON(_ value: some Encodable) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return Array(try encoder.encode(value))
}

/// Reads what `encodeJSON` wrote.
func decodeJSON<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
  try JSONDecoder().decode(type, from: Data(bytes))
}

/// The string in its composed form (NFC), which Foundation alone knows how to make.
func composed(_ text: String) -> String {
  text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
}

/// The text as a part of a query: everything but letters, digits and `-._~` escaped.
func percentEncoded(_ text: String) -> String {
  let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
  var encoded = ""
  for byte in text.utf8 {
    if plain.contains(byte) {
      encoded.unicodeScalars.append(Unicode.Scalar(byte))
    } else {
      let digits = String(byte, radix: 16, uppercase: true)
      encoded += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
  }
  return encoded
}

/// The path of a file URL.
func path(of url: URL) -> String { url.path }
