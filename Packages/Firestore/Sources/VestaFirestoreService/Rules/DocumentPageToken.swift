import VestaFirestoreBackend
import VestaFirestoreModel

/// The end of a page, as a string that is valid in a URL.
enum PageToken {
  private static let digits = Array("0123456789abcdef".utf8)

  static func encode(_ key: [UInt8]) -> String {
    String(decoding: key.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// - Throws: `INVALID_ARGUMENT` for a string that is none; the empty string is the beginning.
  static func decode(_ text: String) throws(FirestoreServiceError) -> [UInt8]? {
    if text.isEmpty { return nil }
    let nibbles = text.utf8.map { digits.firstIndex(of: $0) }
    guard nibbles.count.isMultiple(of: 2), !nibbles.contains(nil) else { throw invalid }
    let numbers = nibbles.compactMap(\.self)
    return stride(from: 0, to: numbers.count, by: 2).map { UInt8(numbers[$0] << 4 | numbers[$0 + 1]) }
  }

  /// The values that the last result of a page is ordered by.
  static func encode(values: [Value]) -> String {
    var writer = RowWriter()
    writer.write(value: .array(values))
    return encode(writer.bytes)
  }

  /// - Throws: `INVALID_ARGUMENT` for a string that is none; the empty string is the beginning.
  static func decodeValues(_ text: String) throws(FirestoreServiceError) -> [Value]? {
    guard let bytes = try decode(text) else { return nil }
    var reader = RowReader(bytes)
    guard case .array(let values)? = try? reader.value(), reader.isAtEnd else { throw invalid }
    return values
  }

  static let invalid = FirestoreServiceError(.invalidArgument, "The page token is not valid.")
}
