import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// A case of the spec tests, read from its JSON form.
struct SpecCase {
  let name: String
  let tags: Set<String>
  let steps: [JSONObject]
  let clients: Int64
  let usesEagerGarbageCollection: Bool
  let limboLimit: Int?

  init?(name: String, _ json: JSONValue) {
    guard let object = json.object, let config = object["config"]?.object, let steps = object["steps"]?.array else {
      return nil
    }
    self.name = name
    tags = Set((object["tags"]?.array ?? []).compactMap(\.string))
    self.steps = steps.compactMap(\.object)
    clients = config["numClients"]?.integer ?? 1
    usesEagerGarbageCollection = config["useEagerGCForMemory"]?.bool ?? true
    limboLimit = config["maxConcurrentLimboResolutions"]?.integer.map(Int.init(clamping:))
  }

  /// The cases of a file, in the order of their names.
  static func cases(in file: URL) throws -> [SpecCase] {
    let json = try JSONValue(
      json: Array(Data(contentsOf: file)), limits: JSONLimits(maximumDepth: 64, maximumSize: 1 << 28))
    return (json.object?.members ?? []).compactMap { SpecCase(name: $0.name, $0.value) }
  }
}

/// Reads the parts of steps.
enum SpecJSON {
  static let database = DatabaseName(project: "test-project")

  static func time(_ json: JSONValue?) -> Timestamp { Timestamp(microseconds: json?.integer ?? 0) }

  static func token(_ json: JSONValue?) -> [UInt8] { Array((json?.string ?? "").utf8) }

  static func ids(_ json: JSONValue?) -> [Int32] { (json?.array ?? []).compactMap { $0.integer.map(Int32.init) } }

  static func path(_ text: String) -> ResourcePath { ResourcePath(splitting: text) }

  static func value(_ json: JSONValue) -> Value {
    switch json {
    case .null: .null
    case .bool(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .number(let number): .double(number)
    case .string(let text): .string(text)
    case .array(let list): .array(list.map(value))
    case .object(let object): .map(map(object))
    }
  }

  static func map(_ json: JSONObject) -> MapValue {
    json.members.reduce(into: MapValue()) { $0[$1.name] = value($1.value) }
  }

  static func error(_ json: JSONValue?) -> FirestoreServiceError {
    let object = json?.object
    let code = Int(object?["code"]?.integer ?? 2)
    return FirestoreServiceError(ServiceCode(wire: code), object?["message"]?.string ?? "")
  }

  static func query(_ json: JSONValue?) throws -> LocalQuery {
    guard let object = json?.object, let path = object["path"]?.string else { throw SpecFailure("a query has no path") }
    let filters = (object["filters"]?.array ?? []).compactMap { filter -> Filter? in
      guard let parts = filter.array, parts.count == 3, let field = parts[0].string, let symbol = parts[1].string,
        let operation = operators[symbol]
      else { return nil }
      return .field(path: field, operation, value(parts[2]))
    }
    guard filters.count == object["filters"]?.array?.count ?? 0 else { throw SpecFailure("a filter is not understood") }
    var orders: [NormalQuery.Order] = []
    for order in object["orderBys"]?.array ?? [] {
      let field = try FieldPath(parsing: order.array?.first?.string ?? "")
      orders.append(NormalQuery.Order(field, descending: order.array?.last?.string == "desc"))
    }
    return try LocalQuery(
      database: database, path: self.path(path),
      collectionGroup: object["collectionGroup"]?.string.map(CollectionID.init(_:)), filters: filters,
      orders: orders, limit: object["limit"]?.integer.map(Int.init(clamping:)),
      limitType: object["limitType"]?.string == "LimitToLast" ? .last : .first)
  }

  private static let operators: [String: Filter.FieldOperator] = [
    "==": .equal, "!=": .notEqual, "<": .lessThan, "<=": .lessThanOrEqual, ">": .greaterThan,
    ">=": .greaterThanOrEqual, "array-contains": .arrayContains, "in": .in, "not-in": .notIn,
    "array-contains-any": .arrayContainsAny,
  ]

  static func write(_ json: JSONObject) throws -> [Mutation] {
    if let set = json["userSet"]?.array, let path = set.first?.string, let fields = set.last?.object {
      return [Mutation(self.path(path), .set(map(fields)))]
    }
    if let patch = json["userPatch"]?.array, let path = patch.first?.string, let fields = patch.last?.object {
      var values = MapValue()
      var mask: [FieldPath] = []
      for member in fields.members {
        let field = FieldPath(member.name.split(separator: ".").map(String.init))
        if member.value.string != "<DELETE>" { values.set(value(member.value), at: field) }
        mask.append(field)
      }
      return [Mutation(self.path(path), .patch(values, mask: FieldMask(mask)), precondition: .exists(true))]
    }
    guard let path = json["userDelete"]?.string else { throw SpecFailure("a write is not understood") }
    return [Mutation(self.path(path), .delete)]
  }

  /// The messages of a `watchEntity` step.
  static func entity(_ json: JSONObject) throws -> [ListenResponse] {
    let (targets, removed) = (ids(json["targets"]), ids(json["removedTargets"]))
    if let key = json["key"]?.string {
      return [.documentRemove(DocumentRemove(document: name(key), removedTargetIDs: removed, readTime: nil))]
    }
    return try (json["docs"]?.array ?? [json["doc"]].compactMap { $0 }).map { document in
      guard let object = document.object, let key = object["key"]?.string else {
        throw SpecFailure("a document has no key")
      }
      let version = time(object["version"])
      guard let fields = object["value"]?.object else {
        let gone = removed.isEmpty ? targets : removed
        return .documentDelete(DocumentDelete(document: name(key), removedTargetIDs: gone, readTime: version))
      }
      let message = Document(name: name(key), fields: map(fields), updateTime: version)
      return .documentChange(DocumentChange(document: message, targetIDs: targets, removedTargetIDs: removed))
    }
  }

  static func filter(_ json: JSONObject) throws -> ListenResponse {
    guard let target = ids(json["targetIds"]).first, let keys = json["keys"]?.array else {
      throw SpecFailure("an existence filter is not understood")
    }
    var message: BloomFilterMessage?
    if let bloom = json["bloomFilter"]?.object {
      let bits = bloom["bits"]?.object
      message = BloomFilterMessage(
        bitmap: bits?["bitmap"]?.string.flatMap({ try? Base64.standard.decode($0) }) ?? [],
        padding: Int32(clamping: bits?["padding"]?.integer ?? 0),
        hashCount: Int32(clamping: bloom["hashCount"]?.integer ?? 0))
    }
    return .filter(ExistenceFilter(targetID: target, count: Int32(keys.count), unchangedNames: message))
  }

  static func name(_ key: String) -> String { database.documentsPrefix + key }
}

/// Why a case fails.
struct SpecFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
