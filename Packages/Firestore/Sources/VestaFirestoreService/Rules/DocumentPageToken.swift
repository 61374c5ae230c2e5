import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel

/// The end of a page, as a string that is valid in a URL.
enum DocumentPageToken {
  static func encode(_ key: [UInt8]) -> String { Hex.encode(key) }

  /// - Throws: `INVALID_ARGUMENT` for a string that is none; the empty string is the beginning.
  static func decode(_ text: String) throws(FirestoreServiceError) -> [UInt8]? {
    if text.isEmpty { return nil }
    do { return try Hex.decode(text) } catch { throw invalid }
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
