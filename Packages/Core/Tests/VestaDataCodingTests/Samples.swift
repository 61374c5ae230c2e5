import Foundation
import VestaDataCoding

struct City: Codable, Equatable {
  var name: String
  var population: Int
  var isCapital: Bool
  var area: Double?
  var twinTowns: [String]
  var mayor: Person?
  var streetsByName: [String: Person]
}

struct Person: Codable, Equatable {
  var givenName: String
  var birthYear: UInt16
}

extension City {
  static let lyon = City(
    name: "Lyon", population: 522_250, isCapital: false, area: 47.87, twinTowns: ["Leipzig", "Turin"],
    mayor: Person(givenName: "Ann", birthYear: 1970),
    streetsByName: ["rue_du_Lac": Person(givenName: "Jo", birthYear: 1)])
}

class Animal: Codable {
  var legs = 4
  init(legs: Int) { self.legs = legs }
}

final class Dog: Animal {
  var name: String
  enum CodingKeys: String, CodingKey { case name }
  init(legs: Int, name: String) {
    self.name = name
    super.init(legs: legs)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try super.encode(to: container.superEncoder())
  }
}

/// A leaf value of a product.
struct Place: Codable, Equatable {
  var latitude: Double
  var longitude: Double
}

enum Places: StructureCodingPassthroughTypeResolver {
  static func isPassthroughType<T>(_ value: T) -> Bool { value is Place }
}

/// Encodes nothing at all.
struct Nothing: Codable, Equatable {
  init() {}
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws {}
}

/// The output of Foundation's JSON coder for a value, as a loosely typed value.
func foundationJSON<T: Encodable>(_ value: T, _ configure: (JSONEncoder) -> Void = { _ in }) throws -> NSObject? {
  let encoder = JSONEncoder()
  configure(encoder)
  let data = try encoder.encode(value)
  return try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
}

/// A loosely typed value in a form that can be compared.
func comparable(_ value: Any) -> NSObject? { value as? NSObject }
