import VestaBytes
import VestaRules

extension RulesValue {
  /// A value of a request as the Rules test API takes it: strings in the form of a time are timestamps, and `__name__`
  /// is a path.
  init(request json: JSONValue) {
    switch json {
    case .string(let text): self = RulesValue.timestamp(text) ?? .string(text)
    case .array(let elements): self = .list(elements.map(RulesValue.init(request:)))
    case .object(let object):
      self = .map(
        RulesMap(
          object.members.map { member in
            guard member.name == "__name__", case .string(let path) = member.value else {
              return RulesMap.Member(member.name, RulesValue(request: member.value))
            }
            return RulesMap.Member(member.name, .path(RulesPath(path)))
          }))
    default: self = RulesValue(plain: json)
    }
  }

  /// A value of a document; `{"$serverTimestamp": true}` is the time of the commit.
  init(plain json: JSONValue, time: RulesValue = .null) {
    switch json {
    case .null: self = .null
    case .bool(let bool): self = .bool(bool)
    case .integer(let number): self = .int(number)
    case .number(let number): self = .float(number)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .list(elements.map { RulesValue(plain: $0, time: time) })
    case .object(let object):
      if object["$serverTimestamp"] != nil {
        self = time
      } else {
        self = .map(RulesMap(object.members.map { RulesMap.Member($0.name, RulesValue(plain: $0.value, time: time)) }))
      }
    }
  }

  private static func timestamp(_ text: String) -> RulesValue? {
    RFC3339.parse(text).map { .timestamp(RulesTimestamp(seconds: $0.seconds, nanoseconds: Int64($0.nanoseconds))) }
  }
}

/// The answers to lookups that a case gives.
struct Mocks: RulesDocuments {
  private let answers: [(function: String, path: String?, answer: RulesLookup)]
  private let prefix: String

  init(_ json: [JSONValue], service: RulesService) {
    prefix = service == .storage ? "firestore." : ""
    answers = json.compactMap(\.members).map { mock in
      let argument = mock["args"]?.elements?.first?.members
      return (
        mock["function"]?.text ?? "", argument?["exactValue"]?.text, Mocks.answer(mock["result"]?.members?["value"])
      )
    }
  }

  private static func answer(_ value: JSONValue?) -> RulesLookup {
    switch value {
    case nil: return .unavailable
    case .bool(let bool)?: return bool ? .found(.empty) : .missing
    case .null?: return .missing
    case let value?:
      guard case .map(let map) = RulesValue(request: value) else { return .unavailable }
      return .found(map)
    }
  }

  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
    let named = answers.filter { $0.function == prefix + function.rawValue }
    guard !named.isEmpty else { return .noSuchFunction }
    return named.first { $0.path.map { RulesPath($0) == path } ?? true }?.answer ?? .unavailable
  }
}

/// The documents of a database before and after a commit.
struct Documents: RulesDocuments {
  static let root = RulesPath("/databases/(default)/documents")
  var before: [RulesPath: RulesMap]
  var after: [RulesPath: RulesMap]

  init(_ json: [JSONObject]) {
    before = [:]
    for (path, fields) in json.flatMap({ $0.members.map { ($0.name, $0.value) } }) {
      guard case .map(let map) = RulesValue(plain: fields) else { continue }
      before[Documents.path(path)] = map
    }
    after = before
  }

  static func path(_ relative: String) -> RulesPath { RulesPath(root.segments + RulesPath(relative).segments) }

  /// A document as the variable `resource`.
  static func resource(_ path: RulesPath, _ data: RulesMap) -> RulesMap {
    ["__name__": .path(path), "data": .map(data), "id": .string(path.segments.last ?? "")]
  }

  func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
    guard let data = (function.isAfter ? after : before)[path] else { return .missing }
    return .found(Documents.resource(path, data))
  }
}
