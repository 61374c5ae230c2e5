package import VestaFirestoreBackend

/// Texts that are the same for what means the same, and different for what does not.
///
/// A target is known by the form of its query: listeners of one query share one target, also after a restart.
package enum CanonicalForm {
  /// The form of a query: of what it means, so that implicit orders count and the order of filters does not.
  package static func text(of query: NormalQuery) -> String {
    var parts = [
      "\(query.parent)", "from:\(query.allDescendants ? "**" : "*")\(quoted(query.collectionID?.rawValue ?? ""))",
    ]
    parts.append("where:" + text(of: query.filter))
    parts.append("order:" + query.orders.map { "\($0.path) \($0.descending ? "desc" : "asc")" }.joined(separator: ","))
    if let start = query.startAt { parts.append("start:" + text(of: start)) }
    if let end = query.endAt { parts.append("end:" + text(of: end)) }
    if query.offset > 0 { parts.append("offset:\(query.offset)") }
    if let limit = query.limit { parts.append("limit:\(limit)") }
    if let select = query.select {
      parts.append("select:" + Set(select).sorted().map(\.description).joined(separator: ","))
    }
    if let search = query.findNearest { parts.append("nearest:" + text(of: search)) }
    return parts.joined(separator: "|")
  }

  /// The form of a value: the message's, so that `1` and `1.0` differ.
  package static func text(of value: Value) -> String {
    switch value {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value.isNaN ? .nan : value)d"
    case .timestamp(let value): "time(\(value))"
    case .string(let value): quoted(value)
    case .bytes(let value): "bytes(" + value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ")"
    case .reference(let value): "ref(\(quoted(value)))"
    case .geoPoint(let value): "geo(\(value.latitude),\(value.longitude))"
    case .array(let values): "[" + values.map(text).joined(separator: ",") + "]"
    case .map(let map): "{" + map.map { "\(quoted($0.name)):\(text(of: $0.value))" }.joined(separator: ",") + "}"
    }
  }

  private static func text(of form: DisjunctiveForm) -> String {
    // Duplicates mean nothing, and neither does order.
    joined(form.conjunctions.map { "(\(joined($0.map(text), by: "&")))" }, by: "+")
  }

  private static func text(of predicate: Predicate) -> String {
    switch predicate.test {
    case .equal(let value): "\(predicate.path)==\(text(of: value))"
    case .contains(let value): "\(predicate.path)∋\(text(of: value))"
    case .notIn(let values): "\(predicate.path)∉[\(joined(values.map(text), by: ","))]"
    case .compare(.less, let value): "\(predicate.path)<\(text(of: value))"
    case .compare(.lessOrEqual, let value): "\(predicate.path)<=\(text(of: value))"
    case .compare(.greater, let value): "\(predicate.path)>\(text(of: value))"
    case .compare(.greaterOrEqual, let value): "\(predicate.path)>=\(text(of: value))"
    }
  }

  private static func text(of cursor: StructuredQuery.Cursor) -> String {
    (cursor.before ? "before" : "after") + text(of: .array(cursor.values))
  }

  private static func text(of search: FindNearest) -> String {
    let threshold = search.distanceThreshold.map { "\($0)" } ?? ""
    return "\(quoted(search.vectorField)),\(text(of: search.queryVector)),\(search.distanceMeasure),\(search.limit),"
      + "\(quoted(search.distanceResultField ?? "")),\(threshold)"
  }

  /// A string between quotation marks, so that nothing in it can be taken for what is around it.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }

  /// The strings in order, each once, by their bytes.
  private static func joined(_ texts: [String], by separator: String) -> String {
    var unique: [String] = []
    for text in texts.sorted(by: { UTF8Order.compare($0, $1) < 0 }) {
      if let last = unique.last, UTF8Order.equal(last, text) { continue }
      unique.append(text)
    }
    return unique.joined(separator: separator)
  }
}
