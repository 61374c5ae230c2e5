package import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// Reads messages of the service in their JSON form, as bundles have them.
package enum WireJSON {
  static func invalid(_ text: String) -> FirestoreServiceError { FirestoreServiceError(.invalidArgument, text) }

  /// A document with its fields and times.
  package static func document(_ json: JSONValue) throws(FirestoreServiceError) -> Document {
    guard let object = json.object, let name = object["name"]?.string else { throw invalid("A document has no name.") }
    return Document(
      name: name, fields: try map(object["fields"]), createTime: try object["createTime"].map(timestamp),
      updateTime: try object["updateTime"].map(timestamp))
  }

  /// The fields of a document or of a map.
  static func map(_ json: JSONValue?) throws(FirestoreServiceError) -> MapValue {
    var result = MapValue()
    for member in json?.object?.members ?? [] { result[member.name] = try value(member.value) }
    return result
  }

  /// A value, an object with one member that names its type.
  package static func value(_ json: JSONValue) throws(FirestoreServiceError) -> Value {
    guard let member = json.object?.members.first, json.object?.members.count == 1 else {
      throw invalid("A value must have exactly one type.")
    }
    let content = member.value
    switch member.name {
    case "nullValue": return .null
    case "booleanValue": if let flag = content.bool { return .boolean(flag) }
    case "integerValue": if let number = integer(content) { return .integer(number) }
    case "doubleValue": if let number = double(content) { return .double(number) }
    case "timestampValue": return .timestamp(try timestamp(content))
    case "stringValue": if let text = content.string { return .string(text) }
    case "bytesValue":
      if let bytes = content.string.flatMap({ try? Base64.standard.decode($0) }) { return .bytes(bytes) }
    case "referenceValue": if let text = content.string { return .reference(text) }
    case "geoPointValue":
      let latitude = content.object?["latitude"].flatMap(double) ?? 0
      return .geoPoint(GeoPoint(latitude: latitude, longitude: content.object?["longitude"].flatMap(double) ?? 0))
    case "arrayValue":
      var values: [Value] = []
      for element in content.object?["values"]?.array ?? [] { values.append(try value(element)) }
      return .array(values)
    case "mapValue": return .map(try map(content.object?["fields"]))
    default: break
    }
    throw invalid("The value of type \"\(member.name)\" is malformed.")
  }

  static func integer(_ json: JSONValue) -> Int64? { json.integer ?? json.string.flatMap { Int64($0) } }

  private static func double(_ json: JSONValue) -> Double? {
    switch json.string {
    case "NaN"?: .nan
    case "Infinity"?: .infinity
    case "-Infinity"?: -.infinity
    case let text?: Double(text)
    case nil: json.double
    }
  }

  // MARK: Timestamps

  /// A timestamp in the form of RFC 3339, or as seconds and nanoseconds.
  package static func timestamp(_ json: JSONValue) throws(FirestoreServiceError) -> Timestamp {
    if let object = json.object {
      let nanos = object["nanos"].flatMap(integer) ?? object["nanoseconds"].flatMap(integer) ?? 0
      return Timestamp(seconds: object["seconds"].flatMap(integer) ?? 0, nanos: Int32(clamping: nanos))
    }
    guard let text = json.string, let time = RFC3339.parse(text) else {
      throw invalid("A timestamp is malformed.")
    }
    return Timestamp(seconds: time.seconds, nanos: time.nanoseconds)
  }

  // MARK: Queries

  /// A query of a bundle: `parent`, `structuredQuery` and `limitType`.
  package static func bundledQuery(_ json: JSONValue, in database: DatabaseName) throws(FirestoreServiceError)
    -> LocalQuery
  {
    guard let object = json.object, let parent = object["parent"]?.string, let query = object["structuredQuery"] else {
      throw invalid("A bundled query needs a parent and a structuredQuery.")
    }
    let type: LocalQuery.LimitType = object["limitType"]?.string == "LAST" ? .last : .first
    let filters =
      try query.object?["where"].map { (json) throws(FirestoreServiceError) in try Self.filters(json) } ?? []
    return try structuredQuery(query, parent: parent, filters: filters, limitType: type, in: database)
  }

  /// A query as requests have it; without `offset` and `select`, which clients do not have.
  package static func structuredQuery(
    _ json: JSONValue, parent: String, in database: DatabaseName
  ) throws(FirestoreServiceError) -> LocalQuery {
    let filters =
      try json.object?["where"].map { (json) throws(FirestoreServiceError) in [try Self.filter(json)] } ?? []
    return try structuredQuery(json, parent: parent, filters: filters, limitType: .first, in: database)
  }

  private static func structuredQuery(
    _ json: JSONValue, parent: String, filters: [Filter], limitType: LocalQuery.LimitType, in database: DatabaseName
  ) throws(FirestoreServiceError) -> LocalQuery {
    guard let query = json.object, let from = query["from"]?.array, from.count == 1,
      let selector = from[0].object
    else {
      throw invalid("A query needs exactly one collection.")
    }
    if query["offset"] != nil { throw invalid("Queries with offset are not supported.") }
    let path = try ResourceName(parent: parent).path
    let id = selector["collectionId"]?.string ?? ""
    let isGroup = selector["allDescendants"]?.bool ?? false
    var orders: [NormalQuery.Order] = []
    for order in query["orderBy"]?.array ?? [] {
      let field = try FieldPath(parsing: order.object?["field"]?.object?["fieldPath"]?.string ?? "")
      orders.append(NormalQuery.Order(field, descending: order.object?["direction"]?.string == "DESCENDING"))
    }
    let limit = query["limit"].flatMap { integer($0) ?? $0.object?["value"].flatMap(integer) }
    return try LocalQuery(
      database: database, path: isGroup ? path : path.appending(id), collectionGroup: isGroup ? CollectionID(id) : nil,
      filters: filters, orders: orders, limit: limit.map(Int.init(clamping:)), limitType: limitType,
      startAt: try query["startAt"].map(cursor), endAt: try query["endAt"].map(cursor))
  }

  private static func cursor(_ json: JSONValue) throws(FirestoreServiceError) -> StructuredQuery.Cursor {
    var values: [Value] = []
    for element in json.object?["values"]?.array ?? [] { values.append(try value(element)) }
    return StructuredQuery.Cursor(values: values, before: json.object?["before"]?.bool ?? false)
  }

  /// The filters of a bundled query, all of which must match.
  private static func filters(_ json: JSONValue) throws(FirestoreServiceError) -> [Filter] {
    guard let content = json.object?["compositeFilter"]?.object else { return [try filter(json)] }
    guard content["op"]?.string == "AND" else {
      throw invalid("The Cloud Firestore SDK only supports composite filters of type 'AND' in bundles.")
    }
    var result: [Filter] = []
    for part in content["filters"]?.array ?? [] { result += try filters(part) }
    return result
  }

  private static func filter(_ json: JSONValue) throws(FirestoreServiceError) -> Filter {
    guard let member = json.object?.members.first, let content = member.value.object else {
      throw invalid("A filter is malformed.")
    }
    switch member.name {
    case "compositeFilter":
      var parts: [Filter] = []
      for part in content["filters"]?.array ?? [] { parts.append(try filter(part)) }
      return .composite(content["op"]?.string == "OR" ? .or : .and, parts)
    case "fieldFilter":
      guard let path = content["field"]?.object?["fieldPath"]?.string, let operand = content["value"],
        let operation = content["op"]?.string.flatMap(Filter.FieldOperator.init)
      else { throw invalid("A field filter is malformed.") }
      return .field(path: path, operation, try value(operand))
    case "unaryFilter":
      guard let path = content["field"]?.object?["fieldPath"]?.string,
        let operation = content["op"]?.string.flatMap(Filter.UnaryOperator.init)
      else { throw invalid("A unary filter is malformed.") }
      return .unary(path: path, operation)
    default: throw invalid("The filter \"\(member.name)\" is not known.")
    }
  }
}
