/// The members of a JSON object in the order in which they were set; every name occurs once.
///
/// Names are compared by their UTF-8 bytes, not by canonical equivalence. Looking a name up takes constant time: from a
/// few members on the object keeps an index of its names.
public struct JSONObject: Sendable {
  /// A name and its value.
  public struct Member: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public var value: JSONValue

    /// A member.
    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }

    /// Whether the names have the same bytes and the values are equal.
    public static func == (left: Member, right: Member) -> Bool {
      UTF8Order.equal(left.name, right.name) && left.value == right.value
    }

    /// Feeds the name and the value.
    public func hash(into hasher: inout Hasher) {
      UTF8Order.hash(name, into: &hasher)
      hasher.combine(value)
    }
  }

  private static let indexedFrom = 12

  /// All members, in order.
  public private(set) var members: [Member]

  /// Positions by name; `nil` in a small object, whose copies then have one reference to count.
  private var positions: [UTF8String: Int]?

  /// An object without members.
  public init() { members = [] }

  /// The number of members.
  public var count: Int { members.count }

  /// Whether there are no members.
  public var isEmpty: Bool { members.isEmpty }

  /// The names, in order.
  public var names: [String] { members.map(\.name) }

  /// The value of a name; setting `nil` removes it, and a new name is appended.
  public subscript(name: String) -> JSONValue? {
    get { position(of: name).map { members[$0].value } }
    set {
      switch (position(of: name), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): remove(at: index)
      case (nil, let value?): append(Member(name: name, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Appends a member, unless its name is there already.
  ///
  /// - Returns: Whether the member is new.
  mutating func insert(_ member: Member) -> Bool {
    guard position(of: member.name) == nil else { return false }
    append(member)
    return true
  }

  private func position(of name: String) -> Int? {
    if let positions { return positions[UTF8String(name)] }
    return members.firstIndex { UTF8Order.equal($0.name, name) }
  }

  private mutating func append(_ member: Member) {
    members.append(member)
    if positions != nil {
      positions?[UTF8String(member.name)] = members.count - 1
    } else if members.count >= Self.indexedFrom {
      reindex()
    }
  }

  private mutating func remove(at index: Int) {
    members.remove(at: index)
    if positions != nil { reindex() }
  }

  private mutating func reindex() {
    guard members.count >= Self.indexedFrom else { return positions = nil }
    var found = positions ?? [:]
    positions = nil
    found.removeAll(keepingCapacity: true)
    for (index, member) in members.enumerated() { found[UTF8String(member.name)] = index }
    positions = found
  }
}

extension JSONObject: Hashable {
  /// Whether the members are equal and in the same order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }

  /// Feeds the members.
  public func hash(into hasher: inout Hasher) { hasher.combine(members) }
}
