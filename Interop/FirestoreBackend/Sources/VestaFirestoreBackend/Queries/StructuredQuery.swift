/// A query of documents below a parent.
///
/// Applied in this order: from, where, select, order with its cursors, offset, limit, nearest vectors.
public struct StructuredQuery: Sendable, Hashable {
  /// A collection, or all collections with an id.
  public struct CollectionSelector: Sendable, Hashable {
    /// The last part of the collection's path; empty, with `allDescendants`, for every document.
    public var collectionID: String

    /// Whether collections at any depth below the parent count, instead of those right below it.
    public var allDescendants: Bool

    /// A selector of collections.
    public init(collectionID: String, allDescendants: Bool = false) {
      self.collectionID = collectionID
      self.allDescendants = allDescendants
    }
  }

  /// A field to order by.
  public struct Order: Sendable, Hashable {
    /// The path of the field; `__name__` for the document's name.
    public var fieldPath: String

    /// The direction.
    public var direction: Direction

    /// An order by a field.
    public init(fieldPath: String, _ direction: Direction = .ascending) {
      self.fieldPath = fieldPath
      self.direction = direction
    }
  }

  /// The direction of an order.
  public enum Direction: Sendable, Hashable {
    /// Smaller values first.
    case ascending
    /// Larger values first.
    case descending
  }

  /// A position in the order of the results.
  public struct Cursor: Sendable, Hashable {
    /// Values for the first of the query's orders, implicit ones included; may be fewer than there are orders.
    public var values: [Value]

    /// Whether the position is right before what has these values; else right after it.
    public var before: Bool

    /// A position.
    public init(values: [Value], before: Bool) {
      self.values = values
      self.before = before
    }
  }

  /// The fields to return; `nil` or an empty list for all, as on the wire.
  ///
  /// `__name__` alone returns names only.
  public var select: [String]?

  /// The collections to look at; one, as a rule.
  public var from: [CollectionSelector]

  /// The condition that documents must match; `nil` for all documents.
  public var filter: Filter?

  /// The order of the results; the service appends fields with inequalities and `__name__`.
  public var orderBy: [Order]

  /// The position at which results begin.
  public var startAt: Cursor?

  /// The position at which results end; results are before it.
  public var endAt: Cursor?

  /// The number of results to leave out.
  public var offset: Int32

  /// The maximum number of results; `nil` for all.
  public var limit: Int32?

  /// Takes the nearest of the results so far.
  public var findNearest: FindNearest?

  /// A query.
  public init(
    select: [String]? = nil,
    from: [CollectionSelector],
    filter: Filter? = nil,
    orderBy: [Order] = [],
    startAt: Cursor? = nil,
    endAt: Cursor? = nil,
    offset: Int32 = 0,
    limit: Int32? = nil,
    findNearest: FindNearest? = nil
  ) {
    self.select = select
    self.from = from
    self.filter = filter
    self.orderBy = orderBy
    self.startAt = startAt
    self.endAt = endAt
    self.offset = offset
    self.limit = limit
    self.findNearest = findNearest
  }
}

/// A search for the vectors nearest to another one.
public struct FindNearest: Sendable, Hashable {
  /// The measures of the distance between two vectors.
  public enum DistanceMeasure: Sendable, Hashable {
    /// The length of the difference; nearest is smallest.
    case euclidean
    /// One minus the cosine of the angle; nearest is smallest.
    case cosine
    /// The dot product; nearest is largest.
    case dotProduct
  }

  /// The path of the field with the vectors.
  public var vectorField: String

  /// The vector to be near to, as `Value.vector(_:)` makes it; at most 2048 numbers.
  public var queryVector: Value

  /// The measure of distance.
  public var distanceMeasure: DistanceMeasure

  /// The maximum number of results, from 1 to 1000.
  public var limit: Int32

  /// The name of a field to put the distance into; `nil` for none.
  public var distanceResultField: String?

  /// The distance beyond which nothing is near; `nil` for no bound.
  ///
  /// With dot products, the least product.
  public var distanceThreshold: Double?

  /// A search for the nearest vectors.
  public init(
    vectorField: String,
    queryVector: Value,
    distanceMeasure: DistanceMeasure,
    limit: Int32,
    distanceResultField: String? = nil,
    distanceThreshold: Double? = nil
  ) {
    self.vectorField = vectorField
    self.queryVector = queryVector
    self.distanceMeasure = distanceMeasure
    self.limit = limit
    self.distanceResultField = distanceResultField
    self.distanceThreshold = distanceThreshold
  }
}
