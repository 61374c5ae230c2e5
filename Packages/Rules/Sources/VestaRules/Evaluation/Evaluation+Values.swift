extension Evaluation {
  // MARK: Literals

  /// The value of a list of literals, at the same cost of the budget; nil where its elements have to be evaluated.
  ///
  /// - Parameters:
  ///   - list: The list of the steps of its elements.
  ///   - literal: The number of the literal list, from one; zero for none.
  mutating func literalList(_ list: Int, _ literal: Int) -> Operand? {
    let cost = code.program.lists[list].count
    guard literal > 0, !isRecorded, cost <= budget.expressions else { return nil }
    budget.expressions -= cost
    return .value(code.program.literalLists[literal - 1])
  }

  mutating func list(_ list: Int, _ id: Int) -> Operand {
    let start = stack.count
    let failure = arguments(list)
    defer { stack.drop(to: start) }
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
    defer { stack.drop(to: start) }
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

  mutating func member(_ target: Int, _ name: Int, _ id: Int, of place: DataOfRequest?) -> Operand {
    if let place, let data = data(place) {
      if let value = data[code.program.names[name]] { return .value(value) }
      return fail(.undefinedProperty(code.program.names[name]), id)
    }
    switch evaluate(target) {
    case .value(.map(let map)):
      if let value = map[code.program.names[name]] { return .value(value) }
      return fail(.undefinedProperty(code.program.names[name]), id)
    case .value(.null): return fail(.nullValue, id)
    case .value: return fail(.undefinedProperty(code.program.names[name]), id)
    case .failure(let number): return .failure(number)
    case .symbol(let symbol): return QuerySymbols.member(symbol, code.program.names[name], id, &self)
    case .unset: return fail(.unknown, id)
    }
  }

  mutating func index(_ target: Int, _ index: Int, _ id: Int, of place: DataOfRequest?) -> Operand {
    let key = evaluate(index)
    switch place.flatMap({ data($0) }).map({ .value(.map($0)) }) ?? evaluate(target) {
    case .failure(let number): return .failure(number)
    case .symbol(let symbol):
      guard case .value(.string(let name)) = key else { return fail(.unknown, id) }
      return QuerySymbols.member(symbol, name, id, &self)
    case .unset: return fail(.unknown, id)
    case .value(let value):
      switch key {
      case .failure: return key
      case .symbol, .unset: return fail(.unknown, id)
      case .value(let key): return finished(value.element(key, &budget.work), id)
      }
    }
  }

  mutating func slice(_ target: Int, _ from: Int, _ to: Int, _ id: Int) -> Operand {
    let end = evaluate(to)
    let start = evaluate(from)
    let outcome = evaluate(target)
    guard case .value(let value) = outcome else { return failed(outcome, id) }
    guard case .value(let first) = start else { return failed(start, id) }
    guard case .value(let last) = end else { return failed(end, id) }
    return finished(value.slice(first, last, &budget.work), id)
  }

  /// An operand that is no value, as a failure.
  mutating func failed(_ operand: Operand, _ id: Int) -> Operand {
    if case .failure = operand { return operand }
    return fail(.unknown, id)
  }
}
