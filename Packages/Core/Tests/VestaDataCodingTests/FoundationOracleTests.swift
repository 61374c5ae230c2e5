import Foundation
import Testing
import VestaDataCoding
import VestaTesting

/// Compares with Foundation's JSON coders on random names and random structures.
@Suite struct FoundationOracleTests {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private struct Named: Encodable {
    var name: String
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(1, forKey: Key(stringValue: name))
    }
  }

  private struct Found: Decodable {
    var names: [String]
    init(from decoder: any Decoder) throws {
      names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
    }
  }

  @Test func `key names are converted as Foundation converts them`() throws {
    var random = SplitMix(seed: 20_261_121)
    let encoder = FirebaseDataEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let decoder = FirebaseDataDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let foundationDecoder = JSONDecoder()
    foundationDecoder.keyDecodingStrategy = .convertFromSnakeCase
    for _ in 0..<2000 {
      let name = String(
        (0..<Int.random(in: 0...9, using: &random)).map { _ in "aBcD_2é".randomElement(using: &random) ?? "x" })
      let expected = try foundationJSON(Named(name: name)) { $0.keyEncodingStrategy = .convertToSnakeCase }
      #expect(try comparable(encoder.encode(Named(name: name))) == expected, "\(name)")
      let json = try JSONSerialization.data(withJSONObject: [name: 1])
      let names = try foundationDecoder.decode(Found.self, from: json).names
      #expect(try decoder.decode(Found.self, from: [name: 1]).names == names, "\(name)")
    }
  }

  @Test func `random structures are encoded as Foundation encodes them and decoded again`() throws {
    var random = SplitMix(seed: 7)
    for _ in 0..<500 {
      let tree = Tree.random(depth: 4, using: &random)
      let encoded = try FirebaseDataEncoder().encode(tree)
      let expected = try canonical(foundationJSON(tree) ?? NSNull())
      #expect(canonical(encoded) == expected)
      #expect(try FirebaseDataDecoder().decode(Tree.self, from: encoded) == tree)
    }
  }

  /// A text that is the same for equal values.
  private func canonical(_ value: Any) -> String {
    switch value {
    case let members as [String: Any]:
      "{" + members.sorted { $0.key < $1.key }.map { "\($0.key):\(canonical($0.value))" }.joined(separator: ",") + "}"
    case let elements as [Any]: "[" + elements.map(canonical).joined(separator: ",") + "]"
    case let number as NSNumber:
      switch Numeric(number) {
      case .boolean(let flag): "\(flag)"
      case let numeric: numeric.exact(Int64.self).map { "\($0)" } ?? "\(number.doubleValue)"
      }
    default: "\(value)"
    }
  }

  @Test func `decoding random structures as the wrong type throws and never crashes`() throws {
    var random = SplitMix(seed: 11)
    var failures = 0
    for _ in 0..<500 {
      let encoded = try FirebaseDataEncoder().encode(Tree.random(depth: 3, using: &random))
      do { _ = try FirebaseDataDecoder().decode(City.self, from: encoded) } catch is DecodingError { failures += 1 }
    }
    #expect(failures == 500)
  }
}

/// A structure of every kind of value; its integers stay in the range in which Foundation's JSON reader is exact.
private indirect enum Tree: Codable, Equatable {
  case integer(Int64)
  case unsigned(UInt64)
  case double(Double)
  case boolean(Bool)
  case string(String)
  case nothing(Int?)
  case list([Tree])
  case members([String: Tree])

  static func random(depth: Int, using random: inout SplitMix) -> Tree {
    switch Int.random(in: 0...(depth > 0 ? 7 : 5), using: &random) {
    case 0: .integer(.random(in: -(1 << 53)...(1 << 53), using: &random))
    case 1: .unsigned(.random(in: 0...(1 << 53), using: &random))
    case 2: .double(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 64)
    case 3: .boolean(.random(using: &random))
    case 4: .string(String(UInt16.random(in: .min ... .max, using: &random), radix: 36) + "é\u{0}\"")
    case 5: .nothing(nil)
    case 6: .list((0..<Int.random(in: 0...4, using: &random)).map { _ in .random(depth: depth - 1, using: &random) })
    default:
      .members(
        Dictionary(
          uniqueKeysWithValues: (0..<Int.random(in: 0...4, using: &random)).map {
            ("key\($0)", .random(depth: depth - 1, using: &random))
          }))
    }
  }
}
