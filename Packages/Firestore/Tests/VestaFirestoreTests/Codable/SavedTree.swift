import Foundation
import VestaFirestore
import VestaTesting

/// A value that encodes itself in one of the ways that a program may choose.
indirect enum SavedTree: Encodable {
  case scalar(any Encodable)
  case null
  case nothing
  case optional(SavedTree?)
  case list([SavedTree])
  case dictionary([String: SavedTree])
  case numbered([Int: SavedTree])
  case named([Name: SavedTree])
  case paired([Color: SavedTree])
  case chosen(Choice)
  case keyed([(key: Key, value: SavedTree)])
  /// Keyed containers in a keyed container, of which one may be asked for twice.
  case nestedMaps([(key: Key, value: SavedTree)])
  case nestedLists([(key: Key, value: SavedTree)])
  /// A list whose elements are filled by nested containers and by encoders of a superclass.
  case unkeyed([SavedTree])
  case inherited(SavedTree, at: Key?)
  case wrapped(SavedTree)
  case twice(SavedTree, SavedTree)
  case mixed(SavedTree)

  enum Name: String, CodingKeyRepresentable, Encodable { case red, green }
  enum Color: String, Encodable { case red, green }
  enum Choice: Encodable {
    case none
    case one(Int)
    case two(first: String, second: [Double?])
  }

  struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .scalar(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .nothing: break
    case .optional(let value): try value.encode(to: encoder)
    case .list(let values): try values.encode(to: encoder)
    case .dictionary(let values): try values.encode(to: encoder)
    case .numbered(let values): try values.encode(to: encoder)
    case .named(let values): try values.encode(to: encoder)
    case .paired(let values): try values.encode(to: encoder)
    case .chosen(let choice): try choice.encode(to: encoder)
    case .wrapped(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .twice(let first, let second):
      try first.encode(to: encoder)
      try second.encode(to: encoder)
    case .mixed(let value):
      var map = encoder.container(keyedBy: Key.self)
      try map.encode(value, forKey: Key("a"))
      var list = encoder.unkeyedContainer()
      try list.encode(value)
    default: try encodeContainers(to: encoder)
    }
  }

  private func encodeContainers(to encoder: any Encoder) throws {
    switch self {
    case .keyed(let members):
      var container = encoder.container(keyedBy: Key.self)
      for (key, value) in members {
        if case .null = value {
          try container.encodeNil(forKey: key)
        } else {
          try container.encodeIfPresent(value, forKey: key)
        }
      }
    case .nestedMaps(let members):
      var container = encoder.container(keyedBy: Key.self)
      for (key, value) in members {
        var nested = container.nestedContainer(keyedBy: Key.self, forKey: key)
        try nested.encode(value, forKey: Key("in\(members.count)"))
      }
    case .nestedLists(let members):
      var container = encoder.container(keyedBy: Key.self)
      for (key, value) in members {
        var nested = container.nestedUnkeyedContainer(forKey: key)
        try nested.encode(value)
      }
    case .unkeyed(let elements):
      var container = encoder.unkeyedContainer()
      for (index, value) in elements.enumerated() {
        if index % 4 == 0 {
          var nested = container.nestedContainer(keyedBy: Key.self)
          try nested.encode(value, forKey: Key("n"))
        } else if index % 4 == 1 {
          try value.encode(to: container.superEncoder())
        } else if index % 4 == 2 {
          try container.encodeNil()
        } else {
          try container.encode(value)
        }
      }
    case .inherited(let value, let key):
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(1, forKey: Key("own"))
      try value.encode(to: key.map { container.superEncoder(forKey: $0) } ?? container.superEncoder())
    default: break
    }
  }

  // MARK: Random values

  static func random(_ random: inout SplitMix, depth: Int) -> SavedTree {
    if depth == 0 || random.oneIn(3) { return leaf(&random) }
    let below = { (random: inout SplitMix) in SavedTree.random(&random, depth: depth - 1) }
    switch random.below(20) {
    case 0: return .list((0..<random.below(4)).map { _ in below(&random) })
    case 1: return .dictionary(Dictionary(members(&random, depth).map { ($0.key.stringValue, $0.value) }) { $1 })
    case 2: return .numbered([random.below(3): below(&random), -7: below(&random)])
    case 3: return .named([.red: below(&random), .green: below(&random)])
    case 4: return .paired([.red: below(&random), .green: below(&random)])
    case 5: return .nestedMaps(members(&random, depth))
    case 6: return .nestedLists(members(&random, depth))
    case 7: return .unkeyed((0..<random.below(6)).map { _ in below(&random) })
    case 8: return .inherited(below(&random), at: random.oneIn(2) ? nil : Key("own"))
    case 9: return .wrapped(below(&random))
    case 10: return .optional(random.oneIn(3) ? nil : below(&random))
    case 11 where random.oneIn(4): return .twice(below(&random), below(&random))
    case 12 where random.oneIn(4): return .mixed(below(&random))
    case 13: return .chosen(random.pick([.none, .one(3), .two(first: "a", second: [nil, 1])]))
    default: return .keyed(members(&random, depth))
    }
  }

  /// A value that is a document most of the time.
  static func document(_ random: inout SplitMix) -> SavedTree {
    random.oneIn(8) ? .random(&random, depth: 2) : .keyed(members(&random, 4))
  }

  private static func members(_ random: inout SplitMix, _ depth: Int) -> [(key: Key, value: SavedTree)] {
    let keys = ["a", "a", "oneTwo", "one_two", "é", "e\u{301}", "", "a.b", "__x__", "😀", "\u{FFFF}", "super", "0"]
    return (0..<random.below(5)).map { _ in
      (Key(random.pick(keys)), .random(&random, depth: depth - 1))
    }
  }

  private static func leaf(_ random: inout SplitMix) -> SavedTree {
    let time = Timestamp(seconds: 5, nanoseconds: 1_234)
    let field = random.pick([
      FieldValue.serverTimestamp(), .increment(Int64(3)), .increment(0.5), .arrayUnion([1, "a"]), .delete(),
    ])
    let values: [any Encodable] = [
      true, false, 0, 1, Int8(-1), Int16(300), Int32.min, Int64.max, UInt8(1), UInt16(7), UInt32.max, UInt(9),
      UInt64(Int64.max), UInt64.max, UInt64(Int64.max) + 1, Float(0.1), Float.infinity, 0.0, -0.0, 5.0, 0.1, Double.nan,
      -Double.infinity, "", "a", "é", "e\u{301}", Date(timeIntervalSince1970: -0.25), Date(timeIntervalSince1970: 1e9),
      Data(), Data([0, 255]), Decimal(12), Decimal(string: "0.1") ?? 0, URL(filePath: "/a b"), time, time, field, field,
      GeoPoint(latitude: 1, longitude: -2), VectorValue([1.5, 2]), testDatabase.document("a/b"), Int?.none,
      Int?.some(4),
      [Int](), [String: Int](), [[1], []], ["a": [true]], Optional(time), Optional(Optional(field)), UUID(),
      DocumentID<String>(wrappedValue: "x"), ServerTimestamp<Date>(wrappedValue: nil),
      ServerTimestamp<Timestamp>(wrappedValue: time),
      ExplicitNull<String>(wrappedValue: nil), ExplicitNull<[Int]>(wrappedValue: [1]),
      ExplicitNull<FieldValue>(wrappedValue: field),
    ]
    return random.oneIn(12) ? random.pick([.null, .nothing]) : .scalar(random.pick(values))
  }
}
