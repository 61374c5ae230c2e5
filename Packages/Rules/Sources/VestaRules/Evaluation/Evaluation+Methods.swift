import VestaBytes
import VestaPatterns

extension Evaluation {
  /// Calls a method.
  ///
  /// Methods have at most two arguments.
  mutating func method(_ target: Int, _ method: ValueMethod, _ list: Int, _ id: Int) -> Operand {
    let count = code.program.lists[list].count
    var (first, second) = (Operand.unset, Operand.unset)
    var failure: Operand?
    for index in stride(from: count - 1, through: 0, by: -1) {
      let outcome = evaluate(Int(code.program.lists[list][index]))
      if case .failure = outcome { failure = outcome }
      if index == 0 { first = outcome } else if index == 1 { second = outcome }
    }
    let receiver: RulesValue
    switch evaluate(target) {
    case .value(let value): receiver = value
    case .failure(let number): return .failure(number)
    case .symbol, .unset: return failure ?? fail(.unknown, id)
    }
    if let failure { return failure }
    if case .null = receiver { return fail(.nullValue, id) }
    var values: (RulesValue?, RulesValue?) = (nil, nil)
    if count > 0 {
      guard case .value(let value) = first else { return fail(.unknown, id) }
      values.0 = value
    }
    if count > 1 {
      guard case .value(let value) = second else { return fail(.unknown, id) }
      values.1 = value
    }
    let pattern = method.takesPattern ? code.program.lists[list].first.map(Int.init) : nil
    return apply(method, receiver, count, values.0, values.1, pattern, id)
  }

  private mutating func apply(
    _ method: ValueMethod, _ receiver: RulesValue, _ count: Int, _ first: RulesValue?, _ second: RulesValue?,
    _ pattern: Int?, _ id: Int
  ) -> Operand {
    switch (receiver, first) {
    case (.string(let text), _):
      if let outcome = self.string(method, text, count, first, second, pattern, id) { return outcome }
    case (.list(let list), _):
      if let outcome = self.list(method, list, count, first, id) { return outcome }
    case (.set(let set), _):
      if let outcome = self.set(method, set, count, first, id) { return outcome }
    case (.map(let map), _):
      if let outcome = self.map(method, map, count, first, second, id) { return outcome }
    case (.mapDiff(let diff), nil):
      if let outcome = self.mapDiff(method, diff, id) { return outcome }
    case (.bytes(let bytes), nil):
      if let outcome = self.bytes(method, bytes, id) { return outcome }
    case (.timestamp(let timestamp), nil):
      if let value = timestamp.value(of: method) { return .value(value) }
    case (.duration(let duration), nil):
      if method == .seconds { return .value(.int(duration.wholeSeconds)) }
      if method == .nanos { return .value(.int(duration.restNanoseconds)) }
    case (.latlng(let point), _):
      if let outcome = self.latlng(method, point, count, first) { return outcome }
    case (.path(let path), .map(let map)?) where method == .bind && count == 1:
      return bind(path, map, id)
    default: break
    }
    return noSuchMethod(method, receiver, count, first, second, id)
  }

  /// The failure of a call that no overload takes.
  private mutating func noSuchMethod(
    _ method: ValueMethod, _ receiver: RulesValue, _ count: Int, _ first: RulesValue?, _ second: RulesValue?, _ id: Int
  ) -> Operand {
    guard let overloads = method.overloads(of: receiver.type) else {
      return fail(.functionNotFound(method.rawValue), id)
    }
    guard overloads.contains(where: { $0.count == count }) else {
      return fail(.incorrectArguments(method.rawValue), id)
    }
    func text(_ types: [String]) -> String {
      "\(receiver.typeName).\(method.rawValue)(\(types.joined(separator: ", ")))"
    }
    return fail(
      .unsupportedOperation(
        received: text([first, second].compactMap { $0?.typeName }),
        expected: overloads.map { text($0.map(\.rawValue)) }),
      id)
  }

  /// A value, or a failure where the work is used up.
  mutating func bounded(_ value: RulesValue, _ id: Int) -> Operand {
    budget.work.left < 0 ? fail(.sizeLimit, id) : .value(value)
  }

  // MARK: Lists and sets

  private mutating func list(
    _ method: ValueMethod, _ list: [RulesValue], _ count: Int, _ first: RulesValue?, _ id: Int
  ) -> Operand? {
    switch (method, first, count) {
    case (.size, nil, 0): return .value(.int(Int64(list.count)))
    case (.toSet, nil, 0):
      guard takeWork(for: list) else { return fail(.sizeLimit, id) }
      return .value(.set(RulesSet(list)))
    case (.concat, .list(let other)?, 1):
      guard budget.work.take(list.count + other.count) else { return fail(.sizeLimit, id) }
      return .value(.list(list + other))
    case (.removeAll, .list(let other)?, 1):
      guard budget.work.take(list.count + other.count) else { return fail(.sizeLimit, id) }
      let index = ElementIndex(other, &budget.work)
      return bounded(.list(list.filter { !index.contains($0, &budget.work) }), id)
    case (.join, .string(let separator)?, 1): return join(list, separator, id)
    case (.hasAll, _, 1), (.hasAny, _, 1), (.hasOnly, _, 1): return has(method, list, first, id)
    default: return nil
    }
  }

  private mutating func takeWork(for list: [RulesValue]) -> Bool {
    budget.work.take(list.reduce(1) { $0 + ($0 > budget.work.left ? 0 : ValueKey.cost($1, upTo: budget.work.left)) })
  }

  private mutating func has(_ method: ValueMethod, _ own: [RulesValue], _ first: RulesValue?, _ id: Int) -> Operand? {
    let other: [RulesValue]
    switch first {
    case .list(let list)?: other = list
    case .set(let set)?: other = set.elements
    default: return nil
    }
    let holds: Bool
    switch method {
    case .hasAll: holds = all(of: other, in: own)
    case .hasOnly: holds = all(of: own, in: other)
    default:
      let index = ElementIndex(own, &budget.work)
      holds = other.contains { index.contains($0, &budget.work) }
    }
    return bounded(.bool(holds), id)
  }

  private mutating func all(of values: [RulesValue], in elements: [RulesValue]) -> Bool {
    let index = ElementIndex(elements, &budget.work)
    for value in values where !index.contains(value, &budget.work) { return false }
    return true
  }

  private mutating func join(_ list: [RulesValue], _ separator: String, _ id: Int) -> Operand {
    var joined = ""
    for (index, element) in list.enumerated() {
      guard let text = Conversions.string(element) else {
        return fail(.typeMismatch(received: element.typeName, expected: "string"), id)
      }
      guard budget.work.take(1 + (text.utf8.count + separator.utf8.count) >> 4) else { return fail(.sizeLimit, id) }
      if index > 0 { joined += separator }
      joined += text
    }
    return .value(.string(joined))
  }

  private mutating func set(
    _ method: ValueMethod, _ set: RulesSet, _ count: Int, _ first: RulesValue?, _ id: Int
  ) -> Operand? {
    switch (method, first, count) {
    case (.size, nil, 0): return .value(.int(Int64(set.elements.count)))
    case (.hasAll, _, 1), (.hasAny, _, 1), (.hasOnly, _, 1): return has(method, set.elements, first, id)
    case (.union, .set(let other)?, 1):
      guard budget.work.take(set.elements.count + other.elements.count) else { return fail(.sizeLimit, id) }
      let index = ElementIndex(set.elements, &budget.work)
      let new = other.elements.filter { !index.contains($0, &budget.work) }
      return bounded(.set(RulesSet(unique: set.elements + new)), id)
    case (.intersection, .set(let other)?, 1), (.difference, .set(let other)?, 1):
      let index = ElementIndex(other.elements, &budget.work)
      let kept = set.elements.filter { index.contains($0, &budget.work) == (method == .intersection) }
      return bounded(.set(RulesSet(unique: kept)), id)
    default: return nil
    }
  }

  // MARK: Maps

  private mutating func map(
    _ method: ValueMethod, _ map: RulesMap, _ count: Int, _ first: RulesValue?, _ second: RulesValue?, _ id: Int
  ) -> Operand? {
    switch (method, first, count) {
    case (.size, nil, 0): return .value(.int(Int64(map.count)))
    case (.keys, nil, 0):
      guard budget.work.take(map.count) else { return fail(.sizeLimit, id) }
      return .value(.list(map.members.map { .string($0.name) }))
    case (.values, nil, 0):
      guard budget.work.take(map.count) else { return fail(.sizeLimit, id) }
      return .value(.list(map.members.map(\.value)))
    case (.diff, .map(let other)?, 1): return .value(.mapDiff(RulesMapDiff(left: map, right: other)))
    case (.get, .string(let name)?, 2): return second.map { .value(map[name] ?? $0) }
    case (.get, .list(let names)?, 2):
      var current = RulesValue.map(map)
      for element in names {
        guard case .string(let name) = element else {
          return fail(.typeMismatch(received: element.typeName, expected: "string"), id)
        }
        guard case .map(let inner) = current, let next = inner[name] else { return second.map { .value($0) } }
        current = next
      }
      return .value(current)
    default: return nil
    }
  }

  private mutating func mapDiff(_ method: ValueMethod, _ diff: RulesMapDiff, _ id: Int) -> Operand? {
    guard budget.work.take(diff.left.count + diff.right.count) else { return fail(.sizeLimit, id) }
    func differs(_ left: RulesValue?, _ right: RulesValue?) -> Bool {
      guard let left, let right else { return true }
      return !ValueEquality.equal(left, right, byValue: true, &budget.work)
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
    return bounded(.set(names), id)
  }

  // MARK: Others

  private mutating func bytes(_ method: ValueMethod, _ bytes: [UInt8], _ id: Int) -> Operand? {
    guard budget.work.take(1 + bytes.count >> 4) else { return fail(.sizeLimit, id) }
    switch method {
    case .size: return .value(.int(Int64(bytes.count)))
    case .toHexString: return .value(.string(Hex.encode(bytes).uppercased()))
    case .toBase64:
      let text = Base64.url.encode(bytes)
      return .value(.string(text + String(repeating: "=", count: (3 - bytes.count % 3) % 3)))
    default: return nil
    }
  }

  private func latlng(_ method: ValueMethod, _ point: RulesLatLng, _ count: Int, _ first: RulesValue?) -> Operand? {
    switch (method, first, count) {
    case (.latitude, nil, 0): .value(.float(point.latitude))
    case (.longitude, nil, 0): .value(.float(point.longitude))
    case (.distance, .latlng(let other)?, 1): .value(.float(Conversions.distance(point, other)))
    default: nil
    }
  }

  /// Puts values in place of the segments `$(name)`, `{name}` of a path.
  private mutating func bind(_ path: RulesPath, _ map: RulesMap, _ id: Int) -> Operand {
    var segments: [String] = []
    for segment in path.segments {
      let isDollar = segment.hasPrefix("$(") && segment.hasSuffix(")")
      guard isDollar || segment.hasPrefix("{") && segment.hasSuffix("}") else {
        segments.append(segment)
        continue
      }
      let name = String(segment.dropFirst(isDollar ? 2 : 1).dropLast())
      guard let value = map[name] else { return fail(.undefinedProperty(name), id) }
      guard let text = Conversions.string(value) else {
        return fail(.typeMismatch(received: value.typeName, expected: "string"), id)
      }
      segments += RulesPath(text).segments
    }
    guard budget.work.take(segments.count) else { return fail(.sizeLimit, id) }
    return .value(.path(RulesPath(segments)))
  }
}
