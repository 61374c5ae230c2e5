import Foundation
import Testing
import VestaDataCoding

/// A map of a caller's own, beside the dictionary of the same members.
@Suite struct DecodedMapTests {
  private struct Part: Codable, Equatable {
    var firstName: String
    var count: Int
    var small: Int8?
    var rate: Double
    var isOpen: Bool
    var tags: [String]
    var parts: [Part]?
    var inner: [String: Int]
  }

  private static func members(_ number: Int, depth: Int = 2) -> [String: Any] {
    var members: [String: Any] = [
      "firstName": "n\(number)", "count": number * 7, "rate": Double(number) / 3, "isOpen": number.isMultiple(of: 2),
      "tags": (0..<number % 4).map { "t\($0)" } as [Any], "inner": ["one_two": number, "b": 2] as [String: Any],
      "unused": NSNull(),
    ]
    if number.isMultiple(of: 3) { members["small"] = number % 100 }
    if number.isMultiple(of: 5) { members["small"] = NSNull() }
    if depth > 0 { members["parts"] = (0..<number % 3).map { Self.members(number + $0, depth: depth - 1) } as [Any] }
    return members
  }

  @Test(arguments: 0..<60)
  func `a map is decoded as the dictionary of its members`(number: Int) throws {
    let members = Self.members(number)
    let decoder = FirebaseDataDecoder()
    let expected = try decoder.decode(Part.self, from: members)
    #expect(try decoder.prepared().decode(Part.self, from: .map(Members(members))) == expected)
  }

  @Test func `key strategies rename members of maps, and keep keys that are data`() throws {
    var members = Self.members(4)
    members["first_name"] = members.removeValue(forKey: "firstName")
    members["is_open"] = members.removeValue(forKey: "isOpen")
    members["parts"] = NSNull()
    let decoder = FirebaseDataDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let part = try decoder.prepared().decode(Part.self, from: .map(Members(members)))
    #expect(part.firstName == "n4" && part.isOpen && part.inner == ["one_two": 4, "b": 2])
  }

  @Test func `members of another type are refused as in a dictionary`() throws {
    for wrong: Any in [1, "x", 1.5, true, NSNull(), ["a": 1] as [String: Any], [1] as [Any], 300] {
      for key in ["firstName", "count", "rate", "isOpen", "tags", "inner", "small"] {
        var members = Self.members(7)
        members[key] = wrong
        let decoder = FirebaseDataDecoder()
        let expected = Result { try decoder.decode(Part.self, from: members) }
        let result = Result { try decoder.prepared().decode(Part.self, from: .map(Members(members))) }
        #expect((try? result.get()) == (try? expected.get()), "\(key): \(wrong)")
        #expect(result.complaint == expected.complaint, "\(key): \(wrong)")
      }
    }
  }

  @Test func `a member that is missing is said with its name`() {
    let error = #expect(throws: DecodingError.self) {
      try FirebaseDataDecoder().prepared().decode(Part.self, from: .map(Members([:])))
    }
    guard case .keyNotFound(let key, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(key.stringValue == "firstName")
  }

  private struct Noted: Decodable {
    let texts: [String]
    init(from decoder: any Decoder) throws {
      texts = ["a", "b"].map { name in
        let value = CodingUserInfoKey(rawValue: name).flatMap { decoder.userInfo[$0] }
        return (value as? Note)?.text ?? value as? String ?? ""
      }
    }
  }

  private final class Note {
    let text = "own"
  }

  @Test func `an object that is noted is in the user information beside the common entries`() throws {
    let decoder = FirebaseDataDecoder()
    let (first, second) = try (#require(CodingUserInfoKey(rawValue: "a")), #require(CodingUserInfoKey(rawValue: "b")))
    decoder.userInfo[first] = "common"
    func texts(noting key: CodingUserInfoKey?, _ object: Note?) throws -> [String] {
      let prepared = decoder.prepared(noting: key)
      let here = try prepared.decode(Noted.self, from: .map(Members([:])), noting: object).texts
      let nested = try prepared.decode([Noted].self, from: .array([.map(Members([:]))]), noting: object)
      #expect(nested.map(\.texts) == [here])
      return here
    }
    #expect(try texts(noting: second, Note()) == ["common", "own"])
    #expect(try texts(noting: first, Note()) == ["own", ""])
    #expect(try texts(noting: second, nil) == ["common", ""])
    #expect(try texts(noting: nil, Note()) == ["common", ""])
  }

  @Test func `a prepared decoder keeps the strategies of its time`() throws {
    let decoder = FirebaseDataDecoder()
    let prepared = decoder.prepared()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let map = DecodedValue.any(["first_name": 1])
    #expect(try prepared.decode([String: Int].self, from: map) == ["first_name": 1])
    struct Named: Decodable { var firstName: Int }
    #expect(throws: DecodingError.self) { try prepared.decode(Named.self, from: map) }
    #expect(try decoder.prepared().decode(Named.self, from: map).firstName == 1)
  }

  @Test func `only the members that a type asks for are read`() throws {
    struct One: Decodable { var count: Int }
    let map = Members(Self.members(3))
    _ = try FirebaseDataDecoder().prepared().decode(One.self, from: .map(map))
    #expect(map.asked == ["count"])
  }

  private struct Child: Decodable {
    enum Keys: String, CodingKey { case count, base, absent }
    let counts: [Int]
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      let base = try container.superDecoder(forKey: .base).container(keyedBy: Keys.self)
      counts = [try container.decode(Int.self, forKey: .count), try base.decode(Int.self, forKey: .count)]
      let absent = try container.superDecoder(forKey: .absent).singleValueContainer()
      guard absent.decodeNil(), container.allKeys.count == 2, container.contains(.base), !container.contains(.absent)
      else { throw CocoaError(.coderInvalidValue) }
    }
  }

  @Test func `decoders of superclasses read maps in maps`() throws {
    let map = Members(["count": 1, "base": ["count": 2] as [String: Any], "other": 3])
    #expect(try FirebaseDataDecoder().prepared().decode(Child.self, from: .map(map)).counts == [1, 2])
  }
}

/// A map that notes what it is asked for.
private final class Members: DecodedMap {
  let dictionary: [String: Any]
  private(set) var asked: [String] = []

  init(_ dictionary: [String: Any]) { self.dictionary = dictionary }

  var names: [String] { Array(dictionary.keys) }
  func contains(_ name: String) -> Bool { dictionary[name] != nil }

  func member(_ name: String) -> DecodedValue? {
    asked.append(name)
    return dictionary[name].map(Self.typed)
  }

  private static func typed(_ value: Any) -> DecodedValue {
    switch value {
    case is NSNull: .any(value)
    case let value as [String: Any]: .map(Members(value))
    case let value as [Any]: .array(value.map(typed))
    case let value as Bool: .boolean(value)
    case let value as Int: .integer(Int64(value))
    case let value as Double: .double(value)
    case let value as String: .string(value)
    default: .any(value)
    }
  }
}

extension Result {
  /// The kind of the error and the path to it.
  fileprivate var complaint: String {
    guard case .failure(let error) = self else { return "" }
    func text(_ kind: String, _ context: DecodingError.Context) -> String {
      "\(kind) at \(context.codingPath.map(\.stringValue)): \(context.debugDescription)"
    }
    return switch error as? DecodingError {
    case .typeMismatch(let type, let context)?: text("mismatch \(type)", context)
    case .valueNotFound(let type, let context)?: text("missing \(type)", context)
    case .dataCorrupted(let context)?: text("corrupted", context)
    default: "\(error)"
    }
  }
}
