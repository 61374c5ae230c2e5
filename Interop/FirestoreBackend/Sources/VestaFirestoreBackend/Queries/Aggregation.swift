/// A query of which only figures are returned.
public struct StructuredAggregationQuery: Sendable, Hashable {
  /// The operation on the results.
  public var query: StructuredQuery

  /// One to five figures.
  public var aggregations: [Aggregation]

  /// A query for figures.
  public init(query: StructuredQuery, aggregations: [Aggregation]) {
    self.query = query
    self.aggregations = aggregations
  }
}

/// A count, sum or average over the results of a query.
public struct Aggregation: Sendable, Hashable {
  /// The operation.
  public enum Operation: Sendable, Hashable {
    /// The number of documents; not counted beyond `upTo`, where it is given.
    case count(upTo: Int64?)
    /// The sum of the numbers in a field; zero without any.
    case sum(fieldPath: String)
    /// The average of the numbers in a field; null without any.
    case average(fieldPath: String)
  }

  /// The operation.
  public var operation: Operation

  /// The name of the figure in the result; empty for `field_1` and so on, by the place among those without a name.
  public var alias: String

  /// A figure.
  public init(_ operation: Operation, alias: String = "") {
    self.operation = operation
    self.alias = alias
  }
}
