import VestaBytes

/// A map from strings to values; its members are ordered by the bytes of their names.
public struct RulesMap: Sendable {
  /// A name and its value.
  public struct Member: Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: RulesValue

    /// A member.
    public init(_ name: String, _ value: RulesValue) {
      self.name = name
      self.value = value
    }
  }

  private enum Storage: Sendable {
    case members([Member])
    case fields(any RulesFields)
  }

  private let storage: Storage

  /// The members, by the bytes of their names.
  public var members: [Member] {
    switch storage {
    case .members(let members): members
    case .fields(let fields): fields.members
    }
  }

  /// The map without members.
  public static let empty = RulesMap(sorted: [])

  /// A map; of members of one name the last one counts.
  public init(_ members: [Member]) {
    var sorted = members
    if !RulesMap.isSorted(sorted) {
      // The sort is not stable by contract, so that positions decide between equal names.
      let order = sorted.indices.sorted {
        let compared = UTF8Order.compare(members[$0].name, members[$1].name)
        return compared == 0 ? $0 < $1 : compared < 0
      }
      sorted = order.map { members[$0] }
      sorted = sorted.indices.filter {
        $0 + 1 == sorted.count || !UTF8Order.equal(sorted[$0].name, sorted[$0 + 1].name)
      }.map { sorted[$0] }
    }
    storage = .members(sorted)
  }

  /// A map of members that are in order and of different names.
  init(sorted members: [Member]) { storage = .members(members) }

  /// A map whose values are made when they are looked at.
  public init(_ fields: any RulesFields) { storage = .fields(fields) }

  private static func isSorted(_ members: [Member]) -> Bool {
    var index = 1
    while index < members.count {
      guard UTF8Order.compare(members[index - 1].name, members[index].name) < 0 else { return false }
      index += 1
    }
    return true
  }

  /// The number of members.
  public var count: Int {
    switch storage {
    case .members(let members): members.count
    case .fields(let fields): fields.count
    }
  }

  /// The value of a name.
  public subscript(name: String) -> RulesValue? {
    switch storage {
    case .members(let members): RulesMap.value(of: name, in: members)
    case .fields(let fields): fields.value(of: name)
    }
  }

  private static func value(of name: String, in members: [Member]) -> RulesValue? {
    index(of: name, in: members).map { members[$0].value }
  }

  static func index(of name: String, in members: [Member]) -> Int? {
    if members.count <= 4 { return members.firstIndex { UTF8Order.equal($0.name, name) } }
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      let compared = UTF8Order.compare(members[middle].name, name)
      if compared == 0 { return middle }
      if compared < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}

/// The members of a map that are made when they are looked at, such as the fields of a stored document, of which rules
/// read few.
public protocol RulesFields: AnyObject, Sendable {
  /// The number of members.
  var count: Int { get }

  /// The members, by the bytes of their names.
  var members: [RulesMap.Member] { get }

  /// The value of a name.
  func value(of name: String) -> RulesValue?
}

extension RulesMap: ExpressibleByDictionaryLiteral {
  /// A map from a literal.
  public init(dictionaryLiteral elements: (String, RulesValue)...) {
    self.init(elements.map { Member($0.0, $0.1) })
  }
}

/// A set of values; two numbers of one value are one element, and so are lists and maps that differ in such numbers.
public struct RulesSet: Sendable {
  /// The elements, each once, in the order in which they were added.
  public let elements: [RulesValue]

  /// The set of the elements of a list.
  public init(_ list: [RulesValue]) {
    var seen = Set<ValueKey>()
    elements = list.filter { seen.insert(ValueKey($0, .byValueAtAnyDepth)).inserted }
  }

  /// A set of elements that are different.
  init(unique elements: [RulesValue]) { self.elements = elements }
}

/// The difference of two maps.
public struct RulesMapDiff: Sendable {
  /// The map that `diff` was called on.
  public let left: RulesMap
  /// The argument of `diff`.
  public let right: RulesMap

  /// The names of the members for which a comparison of both sides holds.
  func names(where matches: (_ left: RulesValue?, _ right: RulesValue?) -> Bool) -> RulesSet {
    var names: [RulesValue] = []
    let (left, right) = (self.left.members, self.right.members)
    var (l, r) = (0, 0)
    while l < left.count || r < right.count {
      let compared = l == left.count ? 1 : r == right.count ? -1 : UTF8Order.compare(left[l].name, right[r].name)
      // Spelt out: `nil` alone would be the value null here, and a name that one side lacks would have that value.
      let leftValue: RulesValue? = compared <= 0 ? .some(left[l].value) : .none
      let rightValue: RulesValue? = compared >= 0 ? .some(right[r].value) : .none
      if matches(leftValue, rightValue) { names.append(.string(compared <= 0 ? left[l].name : right[r].name)) }
      if compared <= 0 { l += 1 }
      if compared >= 0 { r += 1 }
    }
    return RulesSet(unique: names)
  }
}
