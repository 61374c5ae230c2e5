/// Classes in brackets, and the classes of POSIX inside them.
extension PatternParser {
  mutating func bracketed() throws(PatternError) -> ScalarSet {
    index += 1
    let isInverted = skip("^")
    var (ranges, classes): ([ClosedRange<UInt32>], [ClosedRange<UInt32>]) = ([], [])
    var isFirst = true
    while peek() != "]" || isFirst {
      guard let next = peek() else { throw error("missing ]") }
      isFirst = false
      try take(4)
      if next == "[", peek(1) == ":" {
        classes += try posix().ranges
        continue
      }
      if next == "\\", let set = try escapedClass() {
        classes += set.ranges
        continue
      }
      let low = try bracketedScalar()
      guard peek() == "-", let after = peek(1), after != "]" else {
        ranges.append(low...low)
        continue
      }
      index += 1
      let high = try bracketedScalar()
      guard low <= high else { throw error("invalid character class range") }
      ranges.append(low...high)
    }
    index += 1
    let set = try folded(ScalarSet(ranges)).union(ScalarSet(classes))
    try take(16 * set.ranges.count)
    return isInverted ? set.inverted : set
  }

  private mutating func bracketedScalar() throws(PatternError) -> UInt32 {
    guard let next = peek() else { throw error("missing ]") }
    if next == "\\" { return try escapedScalar() }
    index += 1
    return next.value
  }

  private mutating func posix() throws(PatternError) -> ScalarSet {
    index += 2
    let isInverted = skip("^")
    var name = ""
    while let next = peek(), next != ":" {
      name.unicodeScalars.append(next)
      index += 1
    }
    guard skip(text: ":]"), let set = ScalarSet.posix(name) else {
      throw error("invalid character class [:\(name.prefix(20)):]")
    }
    return try counted(isInverted ? try folded(set).inverted : try folded(set))
  }
}
