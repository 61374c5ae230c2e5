/// A Swift file split into what is code, what is text in quotes, and what is comment.
///
/// All three views have the same lines and columns as the file; what does not belong to a view is blank there. The
/// scanner knows nested comments, escapes, raw strings, multi-line strings and interpolations (which count as code).
/// It does not know bare regular expression literals; the repository does not use them.
struct SourceText {
  /// The lines of the file as written.
  let lines: [String]
  /// The lines with comments and quoted text blanked.
  let code: [String]
  /// The lines with comments blanked, quoted text kept.
  let codeAndStrings: [String]
  /// The lines with everything but comments blanked.
  let comments: [String]
  /// The imports of the file with their conditions.
  let imports: [Import]

  init(_ text: String) {
    var scanner = Scanner(Array(text.utf8))
    scanner.run()
    lines = Self.split(scanner.bytes)
    code = Self.split(scanner.code)
    codeAndStrings = Self.split(scanner.codeAndStrings)
    comments = Self.split(scanner.comments)
    imports = Self.imports(in: code)
  }

  private static func split(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension SourceText {
  /// Walks once over the bytes and sorts each into its views.
  private struct Scanner {
    /// The constructs that the scanner is inside of; the innermost is last.
    enum Context {
      case code(parentheses: Int)
      case string(pounds: Int, multiline: Bool)
    }

    let bytes: [UInt8]
    var code: [UInt8]
    var codeAndStrings: [UInt8]
    var comments: [UInt8]
    var position = 0
    var stack = [Context.code(parentheses: 0)]

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      let blank = bytes.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
      (code, codeAndStrings, comments) = (blank, blank, blank)
    }

    mutating func run() {
      while position < bytes.count {
        switch stack[stack.count - 1] {
        case .code(let parentheses): stepInCode(parentheses)
        case .string(let pounds, let multiline): stepInString(pounds, multiline)
        }
      }
    }

    private func looksAt(_ text: StaticString, offset: Int = 0) -> Bool {
      let start = position + offset
      guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
      return text.withUTF8Buffer { zip($0, bytes[start...]).allSatisfy { $0 == $1 } }
    }

    private func pounds(at start: Int) -> Int {
      var count = 0
      while start + count < bytes.count, bytes[start + count] == UInt8(ascii: "#") { count += 1 }
      return count
    }

    private mutating func takeCode(_ count: Int = 1) {
      let taken = position..<min(position + count, bytes.count)
      code.replaceSubrange(taken, with: bytes[taken])
      codeAndStrings.replaceSubrange(taken, with: bytes[taken])
      position += count
    }

    private mutating func takeString(_ count: Int = 1) {
      let taken = position..<min(position + count, bytes.count)
      codeAndStrings.replaceSubrange(taken, with: bytes[taken])
      position += count
    }

    private mutating func takeComment(to end: Int) {
      comments.replaceSubrange(position..<end, with: bytes[position..<end])
      position = end
    }

    /// Most bytes begin nothing: they are found in one go, as a step for each takes long in a debug build.
    private func plainBytes(until stops: [Bool]) -> Int {
      bytes.withUnsafeBufferPointer { bytes in
        stops.withUnsafeBufferPointer { stops in
          var end = position
          while end < bytes.count, !stops[Int(bytes[end])] { end += 1 }
          return end - position
        }
      }
    }

    private static func stops(_ characters: StaticString) -> [Bool] {
      var stops = [Bool](repeating: false, count: 256)
      characters.withUTF8Buffer { for byte in $0 { stops[Int(byte)] = true } }
      return stops
    }

    private static let stopsOfCode = stops("/\"#()")
    private static let stopsOfStrings = stops("\\\"\n")

    private mutating func stepInCode(_ parentheses: Int) {
      let plain = plainBytes(until: Self.stopsOfCode)
      guard plain == 0 else { return takeCode(plain) }
      if looksAt("//") {
        takeComment(to: bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count)
      } else if looksAt("/*") {
        takeComment(to: endOfBlockComment())
      } else if let start = stringStart() {
        takeString(start.length)
        stack.append(.string(pounds: start.pounds, multiline: start.multiline))
      } else {
        countParenthesis(parentheses)
      }
    }

    private mutating func countParenthesis(_ parentheses: Int) {
      let top = stack.count - 1
      if bytes[position] == UInt8(ascii: "(") {
        stack[top] = .code(parentheses: parentheses + 1)
      } else if bytes[position] == UInt8(ascii: ")") {
        if parentheses == 1, top > 0 {  // the end of an interpolation
          stack.removeLast()
          takeString()
          return
        }
        stack[top] = .code(parentheses: parentheses - 1)
      }
      takeCode()
    }

    private func endOfBlockComment() -> Int {
      var depth = 0
      var index = position
      while index < bytes.count {
        let pair = bytes[index...].prefix(2)
        if pair.elementsEqual("/*".utf8) {
          depth += 1
          index += 2
        } else if pair.elementsEqual("*/".utf8) {
          depth -= 1
          index += 2
          if depth == 0 { return index }
        } else {
          index += 1
        }
      }
      return bytes.count
    }

    private func stringStart() -> (pounds: Int, multiline: Bool, length: Int)? {
      let count = pounds(at: position)
      guard looksAt("\"", offset: count) else { return nil }
      let multiline = looksAt("\"\"\"", offset: count)
      return (count, multiline, count + (multiline ? 3 : 1))
    }

    private mutating func stepInString(_ pounds: Int, _ multiline: Bool) {
      let plain = plainBytes(until: Self.stopsOfStrings)
      guard plain == 0 else { return takeString(plain) }
      let quote: StaticString = multiline ? "\"\"\"" : "\""
      if looksAt("\\"), self.pounds(at: position + 1) >= pounds {
        if looksAt("(", offset: 1 + pounds) {
          takeString(2 + pounds)
          stack.append(.code(parentheses: 1))
        } else {
          takeString(2 + pounds)
        }
      } else if looksAt(quote), self.pounds(at: position + quote.utf8CodeUnitCount) >= pounds {
        takeString(quote.utf8CodeUnitCount + pounds)
        stack.removeLast()
      } else if !multiline, looksAt("\n") {  // not closed: the compiler will say so; do not swallow the file
        stack.removeLast()
      } else {
        takeString()
      }
    }
  }
}
