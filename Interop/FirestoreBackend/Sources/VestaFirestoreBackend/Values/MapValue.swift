/// Values under names, in the order of the names' UTF-8 bytes.
///
/// The order is the one that values are compared and stored in, so neither needs sorting again; looking a name up
/// halves the entries. Names are compared by bytes.
///
/// ```swift
/// var fields: MapValue = ["name": .string("Ada"), "age": .integer(36)]
/// fields["age"] = .integer(37)
/// for (name, value) in fields { print(name, value) }   // age, then name
/// ```
public struct MapValue: Sendable, Hashable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
  /// A name and the value under it.
  public typealias Element = (name: String, value: Value)

  /// The names, in order.
  public internal(set) var names: [String]

  @usableFromInline
  var values: [Value]

  /// An empty map.
  public init() {
    names = []
    values = []
  }

  /// A map of entries in any order; of several with one name the last one stays.
  ///
  /// Entries that are in order already cost nothing but the copy.
  ///
  /// - Parameter entries: Names and values.
  public init(_ entries: some Sequence<(String, Value)>) {
    var names: [String] = []
    var values: [Value] = []
    names.reserveCapacity(entries.underestimatedCount)
    values.reserveCapacity(entries.underestimatedCount)
    for (name, value) in entries {
      names.append(name)
      values.append(value)
    }
    self.init(names: names, values: values)
  }

  /// A map of names and values that are in order already, such as a decoder has them.
  ///
  /// The same as the map of their pairs, only quicker: names that are not in order are put in order.
  ///
  /// - Parameters:
  ///   - names: The names.
  ///   - values: The value under each; names without one are left out.
  public init(names: [String], values: [Value]) {
    let isAscending = names.indices.dropLast().allSatisfy { UTF8Order.compare(names[$0], names[$0 + 1]) < 0 }
    self.init()
    guard isAscending, names.count == values.count else {
      put(names, values)
      return
    }
    self.names = names
    self.values = values
  }

  /// Puts entries in order, all at once: one by one they would be moved again for each name that is before others.
  private mutating func put(_ names: [String], _ values: [Value]) {
    let places = (0..<Swift.min(names.count, values.count)).sorted { left, right in
      let order = UTF8Order.compare(names[left], names[right])
      return order != 0 ? order < 0 : left < right
    }
    reserve(places.count)
    for place in places {
      if let last = self.names.last, UTF8Order.equal(last, names[place]) {
        self.values[self.values.count - 1] = values[place]
      } else {
        append(names[place], values[place])
      }
    }
  }

  /// A map as a program writes it; of several entries with one name the last one stays.
  public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }

  /// The value under a name; setting `nil` takes the name away.
  public subscript(name: String) -> Value? {
    get {
      if let place = shortWay(to: name) { return values[place] }
      let place = lowerBound(of: name)
      return place < names.count && UTF8Order.equal(names[place], name) ? values[place] : nil
    }
    set {
      if let newValue, names.last.map({ UTF8Order.precedes($0, name) }) ?? true { return append(name, newValue) }
      let place = lowerBound(of: name)
      let isThere = place < names.count && UTF8Order.equal(names[place], name)
      switch (newValue, isThere) {
      case (let value?, true): values[place] = value
      case (let value?, false):
        names.insert(name, at: place)
        values.insert(value, at: place)
      case (nil, true):
        names.remove(at: place)
        values.remove(at: place)
      case (nil, false): break
      }
    }
  }

  /// The position of the first entry.
  public var startIndex: Int { 0 }

  /// The position after the last entry.
  public var endIndex: Int { names.count }

  /// The entry at a position.
  public subscript(position: Int) -> Element { (names[position], values[position]) }

  /// Whether the two have the same names and values.
  public static func == (left: MapValue, right: MapValue) -> Bool {
    left.names.count == right.names.count
      && left.names.indices.allSatisfy { UTF8Order.equal(left.names[$0], right.names[$0]) }
      && left.values == right.values
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(names.count)
    for name in names { UTF8Order.hash(name, into: &hasher) }
    hasher.combine(values)
  }

  private mutating func append(_ name: String, _ value: Value) {
    names.append(name)
    values.append(value)
  }

  /// The position of a name in a map of few: short names are compared as two words.
  private func shortWay(to name: String) -> Int? {
    guard names.count <= 8, let place = names.firstIndex(of: name) else { return nil }
    return UTF8Order.equal(names[place], name) ? place : nil
  }

  /// The first position whose name is not below the given one.
  private func lowerBound(of name: String) -> Int {
    var low = 0
    var high = names.count
    while low < high {
      let middle = (low + high) / 2
      if UTF8Order.compare(names[middle], name) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension MapValue: ProtobufMap {
  /// Makes room for entries.
  public mutating func reserve(_ count: Int) {
    names.reserveCapacity(count)
    values.reserveCapacity(count)
  }

  /// Keeps a value under a name; of several with one name the last one stays.
  public mutating func set(_ value: consuming Value, for name: consuming String) {
    let value = value
    let name = name
    if let last = names.last, UTF8Order.compare(last, name) >= 0 { return self[name] = value }
    // As nearly every writer has them: in order.
    names.append(name)
    values.append(value)
  }

  /// Calls `body` with each name and its value, in order.
  @inlinable
  public func forEachEntry(_ body: (String, Value) throws(BytesError) -> Void) throws(BytesError) {
    for place in names.indices { try body(names[place], values[place]) }
  }
}
