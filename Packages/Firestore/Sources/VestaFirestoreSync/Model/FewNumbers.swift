/// Numbers that belong to one document: as a rule a single one, which needs no separate set.
enum FewNumbers<Number: Hashable & Comparable & Sendable>: Sendable {
  case one(Number)
  case many(Set<Number>)

  var count: Int {
    switch self {
    case .one: 1
    case .many(let numbers): numbers.count
    }
  }

  var smallest: Number? {
    switch self {
    case .one(let number): number
    case .many(let numbers): numbers.min()
    }
  }

  var sorted: [Number] {
    switch self {
    case .one(let number): [number]
    case .many(let numbers): numbers.sorted()
    }
  }

  mutating func insert(_ number: Number) {
    switch self {
    case .one(let old): if old != number { self = .many([old, number]) }
    case .many(var numbers):
      // Let go before the change, so that nothing is copied.
      self = .one(number)
      numbers.insert(number)
      self = .many(numbers)
    }
  }

  /// Removes a number and returns whether it was the last one.
  mutating func remove(_ number: Number) -> Bool {
    switch self {
    case .one(let old): return old == number
    case .many(var numbers):
      self = .one(number)
      numbers.remove(number)
      if numbers.count == 1, let last = numbers.first { self = .one(last) } else { self = .many(numbers) }
      return numbers.isEmpty
    }
  }
}
