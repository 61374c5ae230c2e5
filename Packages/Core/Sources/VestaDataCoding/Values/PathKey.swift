/// A coding key made from a name or an index.
enum PathKey: CodingKey {
  case name(String)
  case number(Int)
  /// An element of an array, whose name is made on request.
  case index(Int)

  init(stringValue: String) { self = .name(stringValue) }
  init(intValue: Int) { self = .number(intValue) }
  init(index: Int) { self = .index(index) }

  var stringValue: String {
    switch self {
    case .name(let name): name
    case .number(let number): "\(number)"
    case .index(let index): "Index \(index)"
    }
  }

  var intValue: Int? {
    switch self {
    case .name: nil
    case .number(let number), .index(let number): number
    }
  }

  static let `super` = PathKey(stringValue: "super")
}
