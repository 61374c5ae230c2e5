public import VestaBytes
public import VestaDatabaseBackend

/// Queries as the parameters of a URL, and back: `orderBy="age"&startAt=3&limitToFirst=2`.
///
/// Values are JSON. A bound can have the key among equal values behind a comma: `startAt=3,"bob"`.
public enum QueryParameters {
  /// The names of the parameters.
  static let names = [
    "orderBy", "startAt", "startAfter", "endAt", "endBefore", "equalTo", "limitToFirst", "limitToLast",
  ]

  /// Appends the parameters of a query.
  public static func append(_ spec: DatabaseQuerySpec, to fields: inout FormFields) {
    guard !spec.isDefault else { return }
    fields.append("orderBy", text(of: .string(orderName(of: spec.index))))
    if let start = spec.start { fields.append(start.isInclusive ? "startAt" : "startAfter", text(of: start)) }
    if let end = spec.end { fields.append(end.isInclusive ? "endAt" : "endBefore", text(of: end)) }
    if let limit = spec.limit {
      fields.append(limit.side == .first ? "limitToFirst" : "limitToLast", "\(limit.count)")
    }
  }

  /// Reads a query.
  ///
  /// - Throws: `BytesError` with `.malformed` and the sentence that the service answers.
  public static func spec(_ fields: FormFields) throws(BytesError) -> DatabaseQuerySpec {
    guard names.contains(where: { fields[$0] != nil }) else { return .all }
    var spec = DatabaseQuerySpec()
    guard let order = fields["orderBy"] else {
      throw BytesError(.malformed, "orderBy must be defined when other query parameters are defined")
    }
    spec.index = try index(order)
    spec.start = try bound(fields, "startAt", "startAfter", spec.index)
    spec.end = try bound(fields, "endAt", "endBefore", spec.index)
    if let equal = fields["equalTo"] {
      guard spec.start == nil, spec.end == nil else {
        throw BytesError(.malformed, "equalTo cannot be specified in addition to startAt or endAt")
      }
      spec.start = try bound(equal, "equalTo", spec.index, isInclusive: true)
      spec.end = spec.start
    }
    spec.limit = try limit(fields)
    return spec
  }

  private static func orderName(of index: DatabaseIndex) -> String {
    switch index {
    case .priority: "$priority"
    case .key: "$key"
    case .value: "$value"
    case .child(let path): path.text
    }
  }

  private static func index(_ text: String) throws(BytesError) -> DatabaseIndex {
    guard case .string(let name)? = try? JSONValue(json: text) else {
      throw BytesError(.malformed, "orderBy must be a valid JSON encoded path")
    }
    switch name {
    case "$priority": return .priority
    case "$key": return .key
    case "$value": return .value
    default:
      let path = DatabasePath(name)
      guard !path.isRoot else { throw BytesError(.malformed, "orderBy must be a valid JSON encoded path") }
      return .child(path)
    }
  }

  private static func bound(
    _ fields: FormFields, _ inclusive: String, _ exclusive: String, _ index: DatabaseIndex
  ) throws(BytesError) -> DatabaseQuerySpec.Bound? {
    switch (fields[inclusive], fields[exclusive]) {
    case (nil, nil): return nil
    case (let text?, nil): return try bound(text, inclusive, index, isInclusive: true)
    case (nil, let text?): return try bound(text, exclusive, index, isInclusive: false)
    default: throw BytesError(.malformed, "Only one of \(inclusive) and \(exclusive) can be specified")
    }
  }

  private static func bound(
    _ text: String, _ name: String, _ index: DatabaseIndex, isInclusive: Bool
  ) throws(BytesError) -> DatabaseQuerySpec.Bound {
    guard let parts = (try? JSONValue(json: "[\(text)]"))?.array, (1...2).contains(parts.count),
      let value = QueryWire.node(parts[0])
    else { throw BytesError(.malformed, "\(name) must be a valid JSON primitive") }
    if index == .key, parts[0].string == nil {
      throw BytesError(.malformed, "\(name) must be a string when orderBy is \"$key\"")
    }
    guard parts.count == 2 else { return .init(value, isInclusive: isInclusive) }
    guard index != .key, let key = parts[1].string else {
      throw BytesError(.malformed, "the key of \(name) must be a string")
    }
    return .init(value, key: QueryWire.key(key), isInclusive: isInclusive)
  }

  private static func limit(_ fields: FormFields) throws(BytesError) -> DatabaseQuerySpec.Limit? {
    let (first, last) = (fields["limitToFirst"], fields["limitToLast"])
    guard let text = first ?? last else { return nil }
    guard first == nil || last == nil else {
      throw BytesError(.malformed, "Only one of limitToFirst and limitToLast can be specified")
    }
    guard text.utf8.allSatisfy({ $0 &- 48 < 10 }), let count = Int32(text), count > 0 else {
      throw BytesError(.malformed, "limitToFirst and limitToLast must be positive integers")
    }
    return .init(Int(count), first == nil ? .last : .first)
  }

  private static func text(of bound: DatabaseQuerySpec.Bound) -> String {
    let value = text(of: QueryWire.json(of: bound.value))
    return bound.key.map { "\(value),\(text(of: .string($0.text)))" } ?? value
  }

  private static func text(of json: JSONValue) -> String {
    // A bound that is not finite orders as null does.
    String(decoding: (try? json.json()) ?? Array("null".utf8), as: UTF8.self)
  }
}
