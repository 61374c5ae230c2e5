package import VestaFirestoreBackend

/// Figures that are made of one document after the other.
package struct Aggregator: Sendable {
  /// A sum that does not depend on the order of its numbers: integers are added exactly, and of doubles what each
  /// addition loses is kept.
  private struct Sum: Sendable {
    private var whole: Int128 = 0
    private var doubles = 0.0
    private var lost = 0.0
    private var isWhole = true
    private(set) var count: Int64 = 0

    mutating func add(_ value: Value) {
      switch value {
      case .integer(let number): whole += Int128(number)
      case .double(let number):
        isWhole = false
        let sum = doubles + number
        lost += doubles.magnitude >= number.magnitude ? doubles - sum + number : number - sum + doubles
        doubles = sum
      default: return
      }
      count += 1
    }

    /// An integer where all numbers were, and the sum is one that a value can be.
    var value: Value {
      if isWhole, let number = Int64(exactly: whole) { return .integer(number) }
      return .double(double)
    }

    var double: Double { doubles.isFinite ? Double(whole) + (doubles + lost) : doubles }
  }

  private let aggregations: [(operation: Aggregation.Operation, path: FieldPath?, alias: String)]
  private var sums: [Sum]
  private var count: Int64 = 0

  /// The figures of a query.
  ///
  /// - Throws: `INVALID_ARGUMENT` for too many figures, none, two of one name, or a name that no field has.
  package init(_ aggregations: [Aggregation]) throws(FirestoreServiceError) {
    guard !aggregations.isEmpty else { throw .invalid("Aggregations can not be empty.") }
    guard aggregations.count <= FirestoreLimits.aggregations else {
      throw .invalid("The maximum number of aggregations allowed in an aggregation query is 5.")
    }
    var result: [(Aggregation.Operation, FieldPath?, String)] = []
    var unnamed = 0
    for aggregation in aggregations {
      if aggregation.alias.isEmpty { unnamed += 1 }
      let alias = aggregation.alias.isEmpty ? "field_\(unnamed)" : aggregation.alias
      try FieldPath([alias]).checkForResult()
      guard alias.utf8.count <= FirestoreLimits.fieldPathLength else {
        throw .invalid("An aggregation alias is longer than \(FirestoreLimits.fieldPathLength) bytes.")
      }
      if result.contains(where: { UTF8Order.equal($0.2, alias) }) {
        throw .invalid("Aggregation aliases contain duplicate alias \(alias).")
      }
      result.append((aggregation.operation, try Aggregator.path(of: aggregation.operation), alias))
    }
    self.aggregations = result
    fields = result.compactMap(\.1)
    sums = Array(repeating: Sum(), count: result.count)
  }

  /// The fields that a document must have to count in any figure; one for each sum and average.
  package let fields: [FieldPath]

  /// A query whose results the figures are made of.
  ///
  /// Sums and averages come from an index that ends with their fields, so these are orders of a query, after its own
  /// and in the order of their paths: they decide which documents a limit leaves. Of a query that says where the name
  /// is in its order nothing can be between the two.
  ///
  /// - Throws: `INVALID_ARGUMENT` as `NormalQuery`.
  package func query(_ query: StructuredQuery, parent: String) throws(FirestoreServiceError) -> NormalQuery {
    let normal = try NormalQuery(query, parent: parent)
    guard normal.limit != nil || normal.offset > 0, normal.findNearest == nil,
      !normal.orders.prefix(query.orderBy.count).contains(where: { $0.path.isDocumentName }),
      [query.startAt, query.endAt].allSatisfy({ ($0?.values.count ?? 0) <= query.orderBy.count })
    else { return normal }
    return normal.ordered(alsoBy: fields.sorted(), descending: normal.orders.last?.descending ?? false)
  }

  /// Adds a document; one that lacks a field of some figure counts in none.
  package mutating func add(_ document: Document) {
    let values = fields.compactMap { document.value(at: $0) }
    if values.count == fields.count { add(values: values) }
  }

  /// Adds the values of one document, one for each of `fields`.
  package mutating func add(values: [Value]) {
    count += 1
    var rest = values.makeIterator()
    for (index, aggregation) in aggregations.enumerated() where aggregation.path != nil {
      if let value = rest.next() { sums[index].add(value) }
    }
  }

  /// Adds documents of which no values are asked for.
  package mutating func add(count: Int) { self.count += Int64(count) }

  /// The number of documents that decide all results; `nil` for all.
  package var sufficientCount: Int? {
    var most = 0
    for aggregation in aggregations {
      guard case .count(let upTo?) = aggregation.operation else { return nil }
      most = max(most, Int(clamping: upTo))
    }
    return most
  }

  /// The figures by their names.
  package var result: MapValue {
    MapValue(aggregations.indices.map { (aggregations[$0].alias, value(at: $0)) })
  }

  private func value(at index: Int) -> Value {
    let sum = sums[index]
    switch aggregations[index].operation {
    case .count(let upTo): return .integer(min(count, upTo ?? count))
    case .sum: return sum.value
    case .average: return sum.count == 0 ? .null : .double(sum.double / Double(sum.count))
    }
  }

  private static func path(of operation: Aggregation.Operation) throws(FirestoreServiceError) -> FieldPath? {
    switch operation {
    case .count(let upTo):
      if let upTo, upTo <= 0 { throw .invalid("up_to must be greater than zero.") }
      return nil
    case .sum(let path), .average(let path):
      let path = try FieldPath(parsing: path)
      try path.checkForQuery()
      return path
    }
  }
}
