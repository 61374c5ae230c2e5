public import Foundation
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// A figure about the results of a query.
public final class AggregateField: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case count
    case sum(FieldPath)
    case average(FieldPath)
    case failed(FirestoreErrorCode)
  }

  let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  private init(_ field: String, _ make: (FieldPath) -> Kind) {
    do {
      kind = make(try FieldPath.parsing(field))
    } catch {
      kind = .failed(error as? FirestoreErrorCode ?? .invalid("\(error)"))
    }
  }

  /// The number of results.
  public static func count() -> AggregateField { AggregateField(.count) }
  /// The sum of the numbers in a field; zero without any.
  public static func sum(_ field: String) -> AggregateField { AggregateField(field, Kind.sum) }
  /// The sum of the numbers in a field; zero without any.
  public static func sum(_ fieldPath: FieldPath) -> AggregateField { AggregateField(.sum(fieldPath)) }
  /// The average of the numbers in a field; null without any.
  public static func average(_ field: String) -> AggregateField { AggregateField(field, Kind.average) }
  /// The average of the numbers in a field; null without any.
  public static func average(_ fieldPath: FieldPath) -> AggregateField { AggregateField(.average(fieldPath)) }

  /// Whether two fields are the same figure.
  public static func == (left: AggregateField, right: AggregateField) -> Bool { left.kind == right.kind }

  /// Hashes the figure.
  public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

  /// The name of the figure in errors.
  var name: String {
    switch kind {
    case .count: "count(*)"
    case .sum(let path): "sum(\(path))"
    case .average(let path): "average(\(path))"
    case .failed(let error): error.message
    }
  }

  /// The figure as the backend computes it.
  func aggregation(alias: String) throws -> Aggregation {
    switch kind {
    case .count: Aggregation(.count(upTo: nil), alias: alias)
    case .sum(let path): Aggregation(.sum(fieldPath: path.model.description), alias: alias)
    case .average(let path): Aggregation(.average(fieldPath: path.model.description), alias: alias)
    case .failed(let error): throw error
    }
  }
}

/// Figures about the results of a query, computed by the backend without sending the documents.
///
/// ```swift
/// let snapshot = try await cities.aggregate([.count(), .average("population")]).getAggregation(source: .server)
/// ```
public final class AggregateQuery: Sendable, Hashable {
  /// The query.
  public let query: Query
  let fields: [AggregateField]

  init(query: Query, fields: [AggregateField]) {
    self.query = query
    self.fields = fields
  }

  /// Computes the figures.
  ///
  /// Pending writes of this client are not counted.
  ///
  /// - Throws: ``FirestoreErrorCode``: `unavailable` if the backend cannot be reached, or its refusal.
  public func getAggregation(source: AggregateSource) async throws -> AggregateQuerySnapshot {
    do {
      let unique = fields.enumerated().filter { index, field in fields.firstIndex(of: field) == index }.map(\.element)
      let aggregations = try unique.enumerated().map { try $1.aggregation(alias: "aggregation_\($0)") }
      let values = try await query.firestore.client().aggregate(query.description.local(), aggregations)
      var results: [AggregateField: Value] = [:]
      for (index, field) in unique.enumerated() { results[field] = values["aggregation_\(index)"] ?? .null }
      return AggregateQuerySnapshot(query: self, values: results)
    } catch {
      throw FirestoreErrorCode.publicError(error)
    }
  }

  /// Whether two queries ask for the same figures.
  public static func == (left: AggregateQuery, right: AggregateQuery) -> Bool {
    left.query == right.query && left.fields == right.fields
  }

  /// Hashes query and figures.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(query)
    hasher.combine(fields)
  }
}

/// Figures about the results of a query at one time.
public final class AggregateQuerySnapshot: Sendable, Hashable {
  /// The query.
  public let query: AggregateQuery
  private let values: [AggregateField: Value]

  init(query: AggregateQuery, values: [AggregateField: Value]) {
    self.query = query
    self.values = values
  }

  /// The number of results; stops the program if `AggregateField.count()` was not asked for.
  public var count: NSNumber { self.get(.count()) as? NSNumber ?? 0 }

  /// A figure: an `NSNumber`, or `NSNull` for the average of no numbers.
  ///
  /// - Parameter aggregateField: One of the requested ones; any other stops the program.
  public func get(_ aggregateField: AggregateField) -> Any {
    guard let value = values[aggregateField] else {
      preconditionFailure("'\(aggregateField.name)' was not requested in the aggregation query.")
    }
    return UserDataWriter(behavior: .none) { _ in nil }.any(value)
  }

  /// Whether two snapshots have the same figures of the same query.
  public static func == (left: AggregateQuerySnapshot, right: AggregateQuerySnapshot) -> Bool {
    left.query == right.query && left.values == right.values
  }

  /// Hashes query and figures.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(query)
    hasher.combine(values)
  }
}

extension Query {
  /// The query for the number of results.
  public var count: AggregateQuery { aggregate([.count()]) }

  /// The query for figures about the results.
  public func aggregate(_ aggregateFields: [AggregateField]) -> AggregateQuery {
    AggregateQuery(query: self, fields: aggregateFields)
  }
}
