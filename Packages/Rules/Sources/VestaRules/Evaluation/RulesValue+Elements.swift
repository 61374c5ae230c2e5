extension RulesValue {
  /// The element, character, segment or member at an index.
  func element(_ key: RulesValue, _ work: inout WorkMeter) -> ValueOutcome {
    switch (self, key) {
    case (.null, _): return .failure(.nullValue)
    case (.map(let map), .string(let name)):
      if let value = map[name] { return .value(value) }
      return .failure(.undefinedProperty(name))
    case (.list(let list), .int(let index)):
      guard index >= 0, index < list.count else { return .failure(.indexOutOfBounds(index: index, size: list.count)) }
      return .value(list[Int(index)])
    case (.path(let path), .int(let index)):
      let size = path.segments.count
      guard index >= 0, index < size else { return .failure(.indexOutOfBounds(index: index, size: size)) }
      return .value(.string(path.segments[Int(index)]))
    case (.string(let text), .int(let index)):
      guard work.take(text.utf8.count >> 4) else { return .failure(.sizeLimit) }
      let size = text.utf16.count
      guard index >= 0, index < size else { return .failure(.indexOutOfBounds(index: index, size: size)) }
      return .value(.string(UTF16Text.slice(text, Int(index), Int(index) + 1)))
    case (_, .string(let name)): return .failure(.undefinedProperty(name))
    default:
      return .failure(
        .unsupportedOperation(
          received: "\(typeName)[\(key.typeName)]",
          expected: ["list[int]", "map[string]", "path[int]", "string[int]"]))
    }
  }

  /// A part from one index to in front of another one.
  func slice(_ first: RulesValue, _ last: RulesValue, _ work: inout WorkMeter) -> ValueOutcome {
    if case .null = self { return .failure(.nullValue) }
    guard case .int(let low) = first, case .int(let high) = last, let size = sliceSize else {
      return .failure(
        .unsupportedOperation(
          received: "\(typeName)[\(first.typeName):\(last.typeName)]",
          expected: ["list[int:int]", "path[int:int]", "string[int:int]"]))
    }
    guard low >= 0, low <= size else { return .failure(.indexOutOfBounds(index: low, size: size)) }
    guard high >= low, high <= size else { return .failure(.indexOutOfBounds(index: high &- 1, size: size)) }
    guard work.take(1 + Int(high - low) >> 2) else { return .failure(.sizeLimit) }
    let range = Int(low)..<Int(high)
    switch self {
    case .list(let list): return .value(.list(Array(list[range])))
    case .path(let path): return .value(.path(RulesPath(Array(path.segments[range]))))
    case .string(let text): return .value(.string(UTF16Text.slice(text, range.lowerBound, range.upperBound)))
    default: return .failure(.unknown)
    }
  }

  /// The size of a value that has slices.
  private var sliceSize: Int? {
    switch self {
    case .list(let list): list.count
    case .path(let path): path.segments.count
    case .string(let text): text.utf16.count
    default: nil
    }
  }
}

/// Strings by their UTF-16 units.
///
/// Half of a pair becomes U+FFFD, because a Swift string cannot hold it.
enum UTF16Text {
  static func slice(_ text: String, _ start: Int, _ end: Int) -> String {
    if text.utf8.count == text.utf16.count {
      let utf8 = text.utf8
      let from = utf8.index(utf8.startIndex, offsetBy: start)
      return String(text[from..<utf8.index(from, offsetBy: end - start)])
    }
    let units = text.utf16
    let from = units.index(units.startIndex, offsetBy: start)
    return String(decoding: units[from..<units.index(from, offsetBy: end - start)], as: UTF16.self)
  }
}
