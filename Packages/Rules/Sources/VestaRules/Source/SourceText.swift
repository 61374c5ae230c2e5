/// A range of bytes of a source.
struct Span: Sendable, Hashable {
  var start: Int32
  var end: Int32

  init(_ start: Int, _ end: Int) {
    self.start = Int32(truncatingIfNeeded: start)
    self.end = Int32(truncatingIfNeeded: end)
  }

  /// From the start of one range to the end of another.
  func through(_ other: Span) -> Span { Span(Int(start), Int(other.end)) }
}

/// The bytes of a rules file, and the way from a byte to a line and a column.
struct SourceText: Sendable {
  let bytes: [UInt8]
  private let lineStarts: [Int]
  /// The number of scalars before each line; empty where every byte is a scalar.
  private let scalarsBefore: [Int]

  init(_ source: String) {
    bytes = Array(source.utf8)
    var starts = [0]
    for (index, byte) in bytes.enumerated() where byte == 10 { starts.append(index + 1) }
    lineStarts = starts
    let isASCII = bytes.allSatisfy { $0 < 0x80 }
    scalarsBefore = isASCII ? [] : SourceText.scalars(in: bytes, before: starts)
  }

  /// For each line the number of scalars before it.
  private static func scalars(in bytes: [UInt8], before starts: [Int]) -> [Int] {
    var before: [Int] = []
    var (count, line) = (0, 0)
    for (index, byte) in bytes.enumerated() {
      if line < starts.count, starts[line] == index {
        before.append(count)
        line += 1
      }
      if byte & 0xC0 != 0x80 { count += 1 }
    }
    while before.count < starts.count { before.append(count) }
    return before
  }

  /// The text of a range.
  func text(_ span: Span) -> String { String(decoding: bytes[Int(span.start)..<Int(span.end)], as: UTF8.self) }

  /// The line, column and offsets of a range.
  func position(_ span: Span) -> RulesPosition {
    let (start, end) = (Int(span.start), Int(span.end))
    let line = self.line(of: start)
    let column = scalars(lineStarts[line], start)
    let before = scalarsBefore.isEmpty ? lineStarts[line] : scalarsBefore[line]
    let offset = before + column
    return RulesPosition(
      line: line + 1, column: column + 1, startOffset: offset, endOffset: offset + scalars(start, end) - 1)
  }

  /// The number of the line that a byte is on, from 0.
  func line(of offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  private func scalars(_ start: Int, _ end: Int) -> Int {
    guard !scalarsBefore.isEmpty else { return end - start }
    return bytes[start..<end].reduce(0) { $0 + ($1 & 0xC0 != 0x80 ? 1 : 0) }
  }
}
