extension MethodCall {
  // MARK: Lists and sets

  mutating func list(_ list: [RulesValue]) -> ValueOutcome? {
    switch (method, first, count) {
    case (.size, nil, 0): return .value(.int(Int64(list.count)))
    case (.toSet, nil, 0):
      guard takeWork(for: list) else { return .failure(.sizeLimit) }
      return .value(.set(RulesSet(list)))
    case (.concat, .list(let other)?, 1):
      guard work.take(list.count + other.count) else { return .failure(.sizeLimit) }
      return .value(.list(list + other))
    case (.removeAll, .list(let other)?, 1):
      guard work.take(list.count + other.count) else { return .failure(.sizeLimit) }
      let index = ElementIndex(other, .byValue, &work)
      return bounded(.list(list.filter { !index.contains($0, &work) }))
    case (.join, .string(let separator)?, 1): return join(list, separator)
    case (.hasAll, _, 1), (.hasAny, _, 1), (.hasOnly, _, 1): return has(list, .byValue)
    default: return nil
    }
  }

  private mutating func takeWork(for list: [RulesValue]) -> Bool {
    work.take(list.reduce(1) { $0 + ($0 > work.left ? 0 : ValueKey.cost($1, upTo: work.left)) })
  }

  private mutating func has(_ own: [RulesValue], _ numbers: ValueEquality.Numbers) -> ValueOutcome? {
    let other: [RulesValue]
    var numbers = numbers
    switch first {
    case .list(let list)?: other = list
    case .set(let set)?: (other, numbers) = (set.elements, .byValueAtAnyDepth)
    default: return nil
    }
    let holds: Bool
    switch method {
    case .hasAll: holds = all(of: other, in: own, numbers)
    case .hasOnly: holds = all(of: own, in: other, numbers)
    default:
      let index = ElementIndex(own, numbers, &work)
      holds = other.contains { index.contains($0, &work) }
    }
    return bounded(.bool(holds))
  }

  private mutating func all(
    of values: [RulesValue], in elements: [RulesValue], _ numbers: ValueEquality.Numbers
  ) -> Bool {
    let index = ElementIndex(elements, numbers, &work)
    for value in values where !index.contains(value, &work) { return false }
    return true
  }

  private mutating func join(_ list: [RulesValue], _ separator: String) -> ValueOutcome {
    var joined = ""
    for (index, element) in list.enumerated() {
      guard let text = Conversions.string(element) else {
        return .failure(.typeMismatch(received: element.typeName, expected: "string"))
      }
      guard work.take(1 + (text.utf8.count + separator.utf8.count) >> 4) else { return .failure(.sizeLimit) }
      if index > 0 { joined += separator }
      joined += text
    }
    return .value(.string(joined))
  }

  mutating func set(_ set: RulesSet) -> ValueOutcome? {
    switch (method, first, count) {
    case (.size, nil, 0): return .value(.int(Int64(set.elements.count)))
    case (.hasAll, _, 1), (.hasAny, _, 1), (.hasOnly, _, 1): return has(set.elements, .byValueAtAnyDepth)
    case (.union, .set(let other)?, 1):
      guard work.take(set.elements.count + other.elements.count) else { return .failure(.sizeLimit) }
      let index = ElementIndex(set.elements, .byValueAtAnyDepth, &work)
      let new = other.elements.filter { !index.contains($0, &work) }
      return bounded(.set(RulesSet(unique: set.elements + new)))
    case (.intersection, .set(let other)?, 1), (.difference, .set(let other)?, 1):
      let index = ElementIndex(other.elements, .byValueAtAnyDepth, &work)
      let kept = set.elements.filter { index.contains($0, &work) == (method == .intersection) }
      return bounded(.set(RulesSet(unique: kept)))
    default: return nil
    }
  }

  // MARK: Maps

  mutating func map(_ map: RulesMap) -> ValueOutcome? {
    switch (method, first, count) {
    case (.size, nil, 0): return .value(.int(Int64(map.count)))
    case (.keys, nil, 0):
      guard work.take(map.count) else { return .failure(.sizeLimit) }
      return .value(.list(map.members.map { .string($0.name) }))
    case (.values, nil, 0):
      guard work.take(map.count) else { return .failure(.sizeLimit) }
      return .value(.list(map.members.map(\.value)))
    case (.diff, .map(let other)?, 1): return .value(.mapDiff(RulesMapDiff(left: map, right: other)))
    case (.get, .string(let name)?, 2): return second.map { .value(map[name] ?? $0) }
    case (.get, .list(let names)?, 2): return nested(map, names)
    default: return nil
    }
  }

  private func nested(_ map: RulesMap, _ names: [RulesValue]) -> ValueOutcome? {
    var current = RulesValue.map(map)
    for element in names {
      guard case .string(let name) = element else {
        return .failure(.typeMismatch(received: element.typeName, expected: "string"))
      }
      guard case .map(let inner) = current, let next = inner[name] else { return second.map { .value($0) } }
      current = next
    }
    return .value(current)
  }

  mutating func mapDiff(_ diff: RulesMapDiff) -> ValueOutcome? {
    guard work.take(diff.left.count + diff.right.count) else { return .failure(.sizeLimit) }
    func differs(_ left: RulesValue?, _ right: RulesValue?) -> Bool {
      guard let left, let right else { return true }
      return !ValueEquality.equal(left, right, .byValueAtAnyDepth, &work)
    }
    let names: RulesSet
    switch method {
    case .addedKeys: names = diff.names { left, right in left != nil && right == nil }
    case .removedKeys: names = diff.names { left, right in left == nil && right != nil }
    case .changedKeys: names = diff.names { left, right in left != nil && right != nil && differs(left, right) }
    case .affectedKeys: names = diff.names { left, right in differs(left, right) }
    case .unchangedKeys: names = diff.names { left, right in !differs(left, right) }
    default: return nil
    }
    return bounded(.set(names))
  }
}
