/// Searches for plain texts, by their bytes.
enum BytesSearch {
  static func contains(_ text: String, _ part: String) -> Bool {
    !places(Array(text.utf8), Array(part.utf8), 1).isEmpty
  }

  /// The text with all places of one text replaced by another; nil when it would be larger than a limit.
  static func replace(_ text: String, _ old: String, _ new: String, limit: Int) -> String? {
    let (bytes, part, replacement) = (Array(text.utf8), Array(old.utf8), Array(new.utf8))
    guard !part.isEmpty else { return text }
    let found = places(bytes, part, .max)
    guard bytes.count + found.count * (replacement.count - part.count) <= limit else { return nil }
    var (result, position): ([UInt8], Int) = ([], 0)
    for place in found {
      result += bytes[position..<place]
      result += replacement
      position = place + part.count
    }
    return String(decoding: result + bytes[position...], as: UTF8.self)
  }

  /// The places of a part that do not overlap, in time linear in both (Knuth, Morris and Pratt).
  private static func places(_ bytes: [UInt8], _ part: [UInt8], _ limit: Int) -> [Int] {
    guard !part.isEmpty else { return [0] }
    let borders = borders(of: part)
    var found: [Int] = []
    var length = 0
    for (index, byte) in bytes.enumerated() {
      while length > 0, byte != part[length] { length = borders[length - 1] }
      if byte == part[length] { length += 1 }
      guard length == part.count else { continue }
      found.append(index + 1 - part.count)
      if found.count == limit { break }
      length = 0
    }
    return found
  }

  /// For each position, the length of the longest proper prefix that ends there.
  private static func borders(of part: [UInt8]) -> [Int] {
    var borders = [0]
    var length = 0
    for index in part.indices.dropFirst() {
      while length > 0, part[index] != part[length] { length = borders[length - 1] }
      if part[index] == part[length] { length += 1 }
      borders.append(length)
    }
    return borders
  }
}
