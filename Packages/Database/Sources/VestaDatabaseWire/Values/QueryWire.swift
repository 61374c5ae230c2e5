public import VestaBytes
public import VestaDatabaseBackend

/// Queries as the member `q` of the WebSocket protocol, and back.
///
/// `i` is the order (none for that by priority), `sp`, `sn` and `sin` are the value, the key and whether the bound
/// itself counts of the lower end, `ep`, `en` and `ein` the same of the upper end, `l` and `vf` the limit and its side.
public enum QueryWire {
  /// The object of a query; empty for everything by priority.
  public static func object(of spec: DatabaseQuerySpec) -> JSONObject {
    var object = JSONObject()
    if let start = spec.start { write(start, "sp", "sn", "sin", to: &object) }
    if let end = spec.end { write(end, "ep", "en", "ein", to: &object) }
    if let limit = spec.limit {
      object["l"] = .integer(Int64(limit.count))
      object["vf"] = limit.side == .first ? "l" : "r"
    }
    if spec.index != .priority { object["i"] = .string(name(of: spec.index)) }
    return object
  }

  /// Reads a query; the query for everything when there is none.
  ///
  /// - Throws: `BytesError` with `.malformed`.
  public static func spec(_ json: JSONValue?) throws(BytesError) -> DatabaseQuerySpec {
    guard let json, !json.isNull else { return .all }
    guard case .object(let object) = json else { throw BytesError(.malformed, "a query is no object") }
    var spec = DatabaseQuerySpec()
    if let index = object["i"] {
      guard let name = index.string else { throw BytesError(.malformed, "the order of a query is no string") }
      spec.index = self.index(name)
    }
    spec.start = try bound(in: object, "sp", "sn", "sin")
    spec.end = try bound(in: object, "ep", "en", "ein")
    if let limit = object["l"] {
      guard let number = limit.integer, number > 0, number <= Int32.max else {
        throw BytesError(.malformed, "the limit of a query is no number above zero")
      }
      spec.limit = .init(Int(number), try side(object["vf"], hasStart: spec.start != nil))
    }
    return spec
  }

  /// The name of an order: `.priority`, `.key`, `.value`, or the path of a descendant.
  static func name(of index: DatabaseIndex) -> String {
    switch index {
    case .priority: ".priority"
    case .key: ".key"
    case .value: ".value"
    case .child(let path): path.text
    }
  }

  /// The order of a name; an empty path is that by priority, which every node can have.
  static func index(_ name: String) -> DatabaseIndex {
    switch name {
    case ".priority": return .priority
    case ".key": return .key
    case ".value": return .value
    default:
      let path = DatabasePath(name)
      return path.isRoot ? .priority : .child(path)
    }
  }

  /// A key, of which two strings are the ends of all keys.
  static func key(_ text: String) -> DatabaseKey {
    switch text {
    case DatabaseKey.minimum.text: .minimum
    case DatabaseKey.maximum.text: .maximum
    default: DatabaseKey(text)
    }
  }

  private static func write(
    _ bound: DatabaseQuerySpec.Bound, _ value: String, _ key: String, _ inclusive: String, to object: inout JSONObject
  ) {
    object[value] = json(of: bound.value)
    object[key] = bound.key.map { .string($0.text) }
    object[inclusive] = .bool(bound.isInclusive)
  }

  private static func bound(
    in object: JSONObject, _ value: String, _ key: String, _ inclusive: String
  ) throws(BytesError) -> DatabaseQuerySpec.Bound? {
    guard let content = object[value] else { return nil }
    guard let node = node(content) else { throw BytesError(.malformed, "a bound of a query is no leaf") }
    var name: DatabaseKey?
    switch object[key] {
    case nil, .null?: break
    case .string(let text)?: name = self.key(text)
    default: throw BytesError(.malformed, "the key of a bound is no string")
    }
    switch object[inclusive] {
    case nil, .null?: return .init(node, key: name)
    case .bool(let flag)?: return .init(node, key: name, isInclusive: flag)
    default: throw BytesError(.malformed, "a query does not say whether a bound counts")
    }
  }

  private static func side(_ json: JSONValue?, hasStart: Bool) throws(BytesError) -> DatabaseQuerySpec.Side {
    switch json {
    case .string("l")?: return .first
    case .string("r")?: return .last
    // Older clients leave the side out: it is that of the end that has a bound.
    case nil, .null?: return hasStart ? .first : .last
    default: throw BytesError(.malformed, "the side of a limit is neither l nor r")
    }
  }

  /// The leaf of a bound as JSON; null for the empty node.
  static func json(of node: DatabaseNode) -> JSONValue {
    switch node.leaf {
    case .bool(let flag)?: .bool(flag)
    case .int(let number)?: .integer(number)
    case .double(let number)?: .number(number)
    case .string(let text)?: .string(text)
    default: .null
    }
  }

  /// The bound of a leaf; `nil` for an array and an object.
  static func node(_ json: JSONValue) -> DatabaseNode? {
    json.isNull ? .empty : NodeWire.leaf(json).map { DatabaseNode($0) }
  }
}
