import VestaBytes

extension Evaluation {
  // MARK: Literals

  mutating func list(_ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let failure = arguments(list)
    defer { drop(to: start) }
    if let failure { return failure }
    var values: [RulesValue] = []
    values.reserveCapacity(stack.count - start)
    for operand in stack[start...] {
      guard case .value(let value) = operand else { return fail(.unknown, id) }
      values.append(value)
    }
    return .value(.list(values))
  }

  mutating func map(_ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let failure = arguments(list)
    defer { drop(to: start) }
    if let failure { return failure }
    var members: [RulesMap.Member] = []
    var index = start
    while index + 1 < stack.count {
      guard case .value(let key) = stack[index], case .value(let value) = stack[index + 1] else {
        return fail(.unknown, id)
      }
      guard case .string(let name) = key else {
        return fail(.typeMismatch(received: key.typeName, expected: "string"), id)
      }
      members.append(RulesMap.Member(name, value))
      index += 2
    }
    return .value(.map(RulesMap(members)))
  }

  mutating func path(_ list: Int, _ id: Int) -> Operand {
    let count = code.program.lists[list].count
    var reversed: [String] = []
    reversed.reserveCapacity(count)
    var failure: Operand?
    for index in stride(from: count - 1, through: 0, by: -1) {
      let step = Int(code.program.lists[list][index])
      if step < 0 {
        if case .string(let text) = code.program.constants[-1 - step] { reversed.append(text) }
        continue
      }
      switch evaluate(step) {
      case .value(.string(let text)):
        if text.utf8.contains(UInt8(ascii: "/")) {
          reversed += RulesPath(text).segments.reversed()
        } else {
          reversed.append(text)
        }
      case .value(.path(let path)): reversed += path.segments.reversed()
      case .value(.int(let number)): reversed.append(String(number))
      case .value(let value): failure = fail(.typeMismatch(received: value.typeName, expected: "string"), step)
      case .failure(let number): failure = .failure(number)
      case .symbol, .unset: failure = fail(.unknown, step)
      }
    }
    guard budget.work.take(reversed.count) else { return fail(.sizeLimit, id) }
    reversed.reverse()
    return failure ?? .value(.path(RulesPath(reversed)))
  }

  // MARK: Members

  mutating func member(_ target: Int, _ name: Int, _ id: Int) -> Operand {
    switch evaluate(target) {
    case .value(.map(let map)):
      if let value = map[code.program.names[name]] { return .value(value) }
      return fail(.undefinedProperty(code.program.names[name]), id)
    case .value(.null): return fail(.nullValue, id)
    case .value: return fail(.undefinedProperty(code.program.names[name]), id)
    case .failure(let number): return .failure(number)
    case .symbol(let symbol): return member(symbol: symbol, code.program.names[name], id)
    case .unset: return fail(.unknown, id)
    }
  }

  mutating func index(_ target: Int, _ index: Int, _ id: Int) -> Operand {
    let key = evaluate(index)
    switch evaluate(target) {
    case .failure(let number): return .failure(number)
    case .symbol(let symbol):
      guard case .value(.string(let name)) = key else { return fail(.unknown, id) }
      return member(symbol: symbol, name, id)
    case .unset: return fail(.unknown, id)
    case .value(let value):
      switch key {
      case .failure: return key
      case .symbol, .unset: return fail(.unknown, id)
      case .value(let key): return element(of: value, key, id)
      }
    }
  }

  private mutating func element(of value: RulesValue, _ key: RulesValue, _ id: Int) -> Operand {
    switch (value, key) {
    case (.null, _): return fail(.nullValue, id)
    case (.map(let map), .string(let name)):
      if let value = map[name] { return .value(value) }
      return fail(.undefinedProperty(name), id)
    case (.list(let list), .int(let index)):
      guard index >= 0, index < list.count else { return fail(.indexOutOfBounds(index: index, size: list.count), id) }
      return .value(list[Int(index)])
    case (.path(let path), .int(let index)):
      let size = path.segments.count
      guard index >= 0, index < size else { return fail(.indexOutOfBounds(index: index, size: size), id) }
      return .value(.string(path.segments[Int(index)]))
    case (.string(let text), .int(let index)):
      guard budget.work.take(text.utf8.count >> 4) else { return fail(.sizeLimit, id) }
      let size = text.utf16.count
      guard index >= 0, index < size else { return fail(.indexOutOfBounds(index: index, size: size), id) }
      return .value(.string(UTF16Text.slice(text, Int(index), Int(index) + 1)))
    case (_, .string(let name)): return fail(.undefinedProperty(name), id)
    default:
      return fail(
        .unsupportedOperation(
          received: "\(value.typeName)[\(key.typeName)]",
          expected: ["list[int]", "map[string]", "path[int]", "string[int]"]),
        id)
    }
  }

  mutating func slice(_ target: Int, _ from: Int, _ to: Int, _ id: Int) -> Operand {
    let end = evaluate(to)
    let start = evaluate(from)
    let outcome = evaluate(target)
    guard case .value(let value) = outcome else {
      if case .failure = outcome { return outcome }
      return fail(.unknown, id)
    }
    guard case .value(let first) = start else { return failed(start, id) }
    guard case .value(let last) = end else { return failed(end, id) }
    if case .null = value { return fail(.nullValue, id) }
    guard case .int(let low) = first, case .int(let high) = last, let size = value.sliceSize else {
      return fail(
        .unsupportedOperation(
          received: "\(value.typeName)[\(first.typeName):\(last.typeName)]",
          expected: ["list[int:int]", "path[int:int]", "string[int:int]"]), id)
    }
    guard low >= 0, low <= size else { return fail(.indexOutOfBounds(index: low, size: size), id) }
    guard high >= low, high <= size else { return fail(.indexOutOfBounds(index: high &- 1, size: size), id) }
    guard budget.work.take(1 + Int(high - low) >> 2) else { return fail(.sizeLimit, id) }
    let range = Int(low)..<Int(high)
    switch value {
    case .list(let list): return .value(.list(Array(list[range])))
    case .path(let path): return .value(.path(RulesPath(Array(path.segments[range]))))
    case .string(let text): return .value(.string(UTF16Text.slice(text, range.lowerBound, range.upperBound)))
    default: return fail(.unknown, id)
    }
  }

  /// An operand that is no value, as a failure.
  mutating func failed(_ operand: Operand, _ id: Int) -> Operand {
    if case .failure = operand { return operand }
    return fail(.unknown, id)
  }
}

extension RulesValue {
  /// The size of a value that has slices.
  fileprivate var sliceSize: Int? {
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
