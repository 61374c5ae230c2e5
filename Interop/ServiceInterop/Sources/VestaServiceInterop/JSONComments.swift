/// Comments of JSON files, which the Firebase CLI allows in `firebase.json` and the files that it names; pure.
public enum JSONComments {
  /// The bytes of a text without its comments; strings stay as they are.
  ///
  /// - Parameter bytes: UTF-8.
  public static func removed(from bytes: [UInt8]) -> [UInt8] {
    var (result, index) = ([UInt8](), 0)
    while index < bytes.count {
      if let end = end(ofCommentAt: index, in: bytes) {
        result.append(UInt8(ascii: " "))
        index = end
      } else {
        let end = end(ofStringAt: index, in: bytes) ?? index + 1
        result += bytes[index..<end]
        index = end
      }
    }
    return result
  }

  private static func end(ofCommentAt start: Int, in bytes: [UInt8]) -> Int? {
    guard bytes[start] == UInt8(ascii: "/"), start + 1 < bytes.count else { return nil }
    switch bytes[start + 1] {
    case UInt8(ascii: "/"): return bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    case UInt8(ascii: "*"):
      var index = start + 2
      while index + 1 < bytes.count, bytes[index] != UInt8(ascii: "*") || bytes[index + 1] != UInt8(ascii: "/") {
        index += 1
      }
      return min(index + 2, bytes.count)
    default: return nil
    }
  }

  private static func end(ofStringAt start: Int, in bytes: [UInt8]) -> Int? {
    guard bytes[start] == UInt8(ascii: "\"") else { return nil }
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }
}
