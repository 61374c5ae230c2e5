extension String {
  /// The parts between the places of an ASCII character: see ``Swift/Substring/parts(at:maxSplits:omittingEmpty:)``.
  public func parts(at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = false) -> [Substring] {
    self[...].parts(at: separator, maxSplits: maxSplits, omittingEmpty: omittingEmpty)
  }

  /// Whether an ASCII character is among the bytes, also where a combining mark follows it.
  public func hasByte(_ character: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: character)) }
}

extension Substring {
  /// The parts between the places of an ASCII character, found by bytes.
  ///
  /// `split(separator:)` compares characters of the user, so that a combining mark at the start of a part hides the
  /// separator before it: paths and names that others send must not be divided with it. It also costs several times
  /// as much.
  ///
  /// - Parameters:
  ///   - separator: An ASCII character.
  ///   - maxSplits: How often the text is divided at most.
  ///   - omittingEmpty: Whether parts without a byte are left out.
  public func parts(at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = false) -> [Substring] {
    // The library's `split` of the bytes costs three times as much: it is general, and its parts are not yet text.
    let (bytes, separator) = (utf8, UInt8(ascii: separator))
    var parts: [Substring] = []
    var (start, index) = (bytes.startIndex, bytes.startIndex)
    while index != bytes.endIndex, parts.count < maxSplits {
      if bytes[index] == separator {
        if start != index || !omittingEmpty { parts.append(self[start..<index]) }
        start = bytes.index(after: index)
      }
      bytes.formIndex(after: &index)
    }
    if start != bytes.endIndex || !omittingEmpty { parts.append(self[start...]) }
    return parts
  }

  /// Whether an ASCII character is among the bytes, also where a combining mark follows it.
  public func hasByte(_ character: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: character)) }
}
