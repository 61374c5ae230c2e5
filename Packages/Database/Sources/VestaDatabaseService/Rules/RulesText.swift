/// Rules as files have them, as plain JSON: without comments, and without line ends inside of strings.
enum RulesText {
  /// The text with a space for each byte of a comment and each line end of a string.
  static func json(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    var index = 0
    while index < bytes.count {
      switch (bytes[index], index + 1 < bytes.count ? bytes[index + 1] : 0) {
      case (UInt8(ascii: "\""), _): index = endOfString(&bytes, from: index + 1)
      case (UInt8(ascii: "/"), UInt8(ascii: "/")):
        while index < bytes.count, bytes[index] != 10 { blank(&bytes, &index) }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")): blankBlock(&bytes, &index)
      default: index += 1
      }
    }
    return bytes
  }

  /// Blanks a comment of any number of lines.
  private static func blankBlock(_ bytes: inout [UInt8], _ index: inout Int) {
    blank(&bytes, &index)
    blank(&bytes, &index)
    while index < bytes.count {
      let isEnd =
        bytes[index] == UInt8(ascii: "*") && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/")
      blank(&bytes, &index)
      guard isEnd else { continue }
      blank(&bytes, &index)
      break
    }
  }

  private static func blank(_ bytes: inout [UInt8], _ index: inout Int) {
    bytes[index] = UInt8(ascii: " ")
    index += 1
  }

  private static func endOfString(_ bytes: inout [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      if bytes[index] < 32 { bytes[index] = UInt8(ascii: " ") }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index + 1
  }
}
