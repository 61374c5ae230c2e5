import VestaBytes

/// A limit on the work of operations whose cost depends on the size of values, so that a hostile ruleset cannot build
/// or compare values that grow with every step.
struct WorkMeter: Sendable {
  var left: Int

  /// Takes units; whether there were enough.
  @inline(__always)
  mutating func take(_ units: Int) -> Bool {
    left -= units
    return left >= 0
  }
}

enum ValueEquality {
  /// How an integer and a float of one value compare.
  enum Numbers {
    /// They are equal, and of different types inside lists and maps.
    case byValue
    /// They are of different types.
    case byType
    /// They are equal also inside lists and maps, and NaN is equal to itself: in sets and in differences of maps.
    case byValueAtAnyDepth

    fileprivate var inside: Numbers { self == .byValueAtAnyDepth ? self : .byType }
  }

  /// Whether two values are equal by `==`.
  ///
  /// When the work is used up the answer means nothing, and the caller looks at the meter.
  static func equal(
    _ left: RulesValue, _ right: RulesValue, _ numbers: Numbers, _ work: inout WorkMeter
  ) -> Bool {
    guard work.take(1) else { return false }
    switch (left, right) {
    case (.null, .null): return true
    case (.bool(let l), .bool(let r)): return l == r
    case (.int(let l), .int(let r)): return l == r
    case (.float(let l), .float(let r)): return l == r || numbers == .byValueAtAnyDepth && l.isNaN && r.isNaN
    case (.int(let l), .float(let r)), (.float(let r), .int(let l)):
      return numbers != .byType && Double(exactly: l) == r
    case (.string(let l), .string(let r)): return work.take(l.utf8.count >> 4) && UTF8Order.equal(l, r)
    case (.bytes(let l), .bytes(let r)): return work.take(l.count >> 4) && l == r
    case (.timestamp(let l), .timestamp(let r)): return l == r
    case (.duration(let l), .duration(let r)): return l == r
    case (.latlng(let l), .latlng(let r)): return l == r
    case (.path(let l), .path(let r)): return work.take(l.segments.count) && l == r
    case (.list(let l), .list(let r)): return equal(lists: l, r, numbers.inside, &work)
    case (.map(let l), .map(let r)): return equal(maps: l, r, numbers.inside, &work)
    case (.set(let l), .set(let r)): return equal(sets: l, r, &work)
    case (.mapDiff(let l), .mapDiff(let r)):
      return equal(maps: l.left, r.left, .byValueAtAnyDepth, &work)
        && equal(maps: l.right, r.right, .byValueAtAnyDepth, &work)
    default: return false
    }
  }

  private static func equal(
    lists left: [RulesValue], _ right: [RulesValue], _ numbers: Numbers, _ work: inout WorkMeter
  ) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where !equal(left[index], right[index], numbers, &work) { return false }
    return true
  }

  private static func equal(
    maps left: RulesMap, _ right: RulesMap, _ numbers: Numbers, _ work: inout WorkMeter
  ) -> Bool {
    guard left.count == right.count else { return false }
    let (left, right) = (left.members, right.members)
    for index in left.indices {
      guard UTF8Order.equal(left[index].name, right[index].name),
        equal(left[index].value, right[index].value, numbers, &work)
      else { return false }
    }
    return true
  }

  private static func equal(sets left: RulesSet, _ right: RulesSet, _ work: inout WorkMeter) -> Bool {
    guard left.elements.count == right.elements.count else { return false }
    let index = ElementIndex(left.elements, .byValueAtAnyDepth, &work)
    return right.elements.allSatisfy { index.contains($0, &work) }
  }
}

/// Elements that are looked for repeatedly: hashed when there are many.
struct ElementIndex {
  private let elements: [RulesValue]
  private let numbers: ValueEquality.Numbers
  private let keys: Set<ValueKey>

  init(_ elements: [RulesValue], _ numbers: ValueEquality.Numbers, _ work: inout WorkMeter) {
    (self.elements, self.numbers) = (elements, numbers)
    guard elements.count > 8, work.take(elements.reduce(0) { $0 + ValueKey.cost($1, upTo: work.left) }) else {
      keys = []
      return
    }
    keys = Set(elements.map { ValueKey($0, numbers) })
  }

  func contains(_ value: RulesValue, _ work: inout WorkMeter) -> Bool {
    if elements.count > 8 {
      guard work.take(ValueKey.cost(value, upTo: work.left)) else { return false }
      return keys.contains(ValueKey(value, numbers))
    }
    for element in elements where ValueEquality.equal(element, value, numbers, &work) { return true }
    return false
  }
}

/// A value among others that are looked for: hashed and compared as `==` or as sets do.
struct ValueKey: Hashable {
  let value: RulesValue
  let numbers: ValueEquality.Numbers

  init(_ value: RulesValue, _ numbers: ValueEquality.Numbers) { (self.value, self.numbers) = (value, numbers) }

  static func == (left: ValueKey, right: ValueKey) -> Bool {
    var work = WorkMeter(left: .max)
    return ValueEquality.equal(left.value, right.value, left.numbers, &work)
  }

  func hash(into hasher: inout Hasher) { ValueKey.hash(value, into: &hasher, depth: 0) }

  /// Feeds the hasher with no more than is equal in equal values; what is deep is left out.
  private static func hash(_ value: RulesValue, into hasher: inout Hasher, depth: Int) {
    hasher.combine(value.isNumber ? 0 : value.kindNumber)
    switch value {
    case .null: break
    case .bool(let bool): hasher.combine(bool)
    case .int(let int): hasher.combine(Double(int))
    case .float(let float): hasher.combine(float.isNaN ? .nan : float)
    case .string(let string): UTF8Order.hash(string, into: &hasher)
    case .bytes(let bytes): hasher.combine(bytes)
    case .timestamp(let timestamp): hasher.combine(timestamp)
    case .duration(let duration): hasher.combine(duration)
    case .latlng(let point): hasher.combine(point)
    case .path(let path): hasher.combine(path)
    case .list(let list):
      hasher.combine(list.count)
      if depth < 3 { for element in list.prefix(16) { hash(element, into: &hasher, depth: depth + 1) } }
    case .map(let map):
      hasher.combine(map.count)
      guard depth < 3 else { return }
      for member in map.members.prefix(16) {
        UTF8Order.hash(member.name, into: &hasher)
        hash(member.value, into: &hasher, depth: depth + 1)
      }
    case .set(let set): hasher.combine(set.elements.count)
    case .mapDiff(let diff): hasher.combine(diff.left.count &+ diff.right.count)
    }
  }

  /// The number of values inside of a value, as far as a limit.
  static func cost(_ value: RulesValue, upTo limit: Int) -> Int {
    switch value {
    case .list(let list): return cost(list, upTo: limit)
    case .set(let set): return cost(set.elements, upTo: limit)
    case .map(let map): return cost(map.members.map(\.value), upTo: limit)
    case .mapDiff(let diff): return cost(.map(diff.left), upTo: limit) + cost(.map(diff.right), upTo: limit)
    case .string(let string): return 1 + string.utf8.count >> 4
    case .bytes(let bytes): return 1 + bytes.count >> 4
    default: return 1
    }
  }

  private static func cost(_ values: [RulesValue], upTo limit: Int) -> Int {
    var sum = 1
    for value in values where sum < limit { sum += cost(value, upTo: limit - sum) }
    return sum
  }
}

extension RulesValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .float: true
    default: false
    }
  }

  fileprivate var kindNumber: Int {
    switch self {
    case .null: 1
    case .bool: 2
    case .int, .float: 0
    case .string: 3
    case .bytes: 4
    case .timestamp: 5
    case .duration: 6
    case .latlng: 7
    case .path: 8
    case .list: 9
    case .map: 10
    case .set: 11
    case .mapDiff: 12
    }
  }
}

extension RulesValue: Equatable {
  /// Whether two values are equal by `==` of the rules language.
  public static func == (left: RulesValue, right: RulesValue) -> Bool {
    var work = WorkMeter(left: .max)
    return ValueEquality.equal(left, right, .byValue, &work)
  }
}
