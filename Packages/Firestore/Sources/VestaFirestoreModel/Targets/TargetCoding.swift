package import VestaFirestoreBackend

/// The encoding of targets in a row; the tags are on disk: never change one.
extension QueryTarget {
  /// The bytes of the target.
  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(target: self)
    return writer.bytes
  }

  /// A target of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    self = try reader.target()
  }
}

extension TargetRecord {
  /// The bytes of the record, without purpose and expected count.
  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(int: Int64(id))
    writer.write(int: sequenceNumber)
    writer.write(time: snapshotVersion)
    writer.write(time: lastLimboFreeVersion)
    writer.write(blob: resumeToken)
    writer.write(target: target)
    return writer.bytes
  }

  /// A record of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    guard let id = Int32(exactly: try reader.int()) else { throw .damaged }
    let sequenceNumber = try reader.int()
    let (version, limboFree) = (try reader.time(), try reader.time())
    let token = try reader.blob()
    self.init(
      try reader.target(), id: id, sequenceNumber: sequenceNumber, snapshotVersion: version,
      lastLimboFreeVersion: limboFree, resumeToken: token)
  }
}

extension LocalQuery {
  /// The bytes of the query.
  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(byte: limitType.rawValue)
    writer.write(
      target: QueryTarget(
        database: database, path: path, collectionGroup: collectionGroup, filters: filters, orders: explicitOrders,
        limit: limit, startAt: startAt, endAt: endAt))
    return writer.bytes
  }

  /// A query of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    guard let limitType = LimitType(rawValue: try reader.byte()) else { throw .damaged }
    let target = try reader.target()
    try self.init(
      database: target.database, path: target.path, collectionGroup: target.collectionGroup, filters: target.filters,
      orders: target.orders, limit: target.limit, limitType: limitType, startAt: target.startAt, endAt: target.endAt)
  }
}

extension RowWriter {
  fileprivate mutating func write(target: QueryTarget) {
    write(text: target.database.project)
    write(text: target.database.database)
    write(path: target.path)
    write(optional: target.collectionGroup) { $0.write(text: $1.rawValue) }
    write(count: target.filters.count)
    for filter in target.filters { write(filter) }
    write(count: target.orders.count)
    for order in target.orders {
      write(fieldPath: order.path)
      write(byte: order.descending ? 1 : 0)
    }
    write(optional: target.limit) { $0.write(int: Int64($1)) }
    for cursor in [target.startAt, target.endAt] {
      write(optional: cursor) { writer, cursor in
        writer.write(byte: cursor.before ? 1 : 0)
        writer.write(value: .array(cursor.values))
      }
    }
  }

  private mutating func write<Content>(optional content: Content?, _ write: (inout RowWriter, Content) -> Void) {
    self.write(byte: content == nil ? 0 : 1)
    if let content { write(&self, content) }
  }

  private mutating func write(_ filter: Filter) {
    switch filter {
    case .composite(let operation, let filters):
      write(byte: operation == .and ? 1 : 2)
      write(count: filters.count)
      for filter in filters { write(filter) }
    case .field(let path, let operation, let operand):
      write(byte: 3)
      write(text: path)
      write(text: operation.rawValue)
      write(value: operand)
    case .unary(let path, let operation):
      write(byte: 4)
      write(text: path)
      write(text: operation.rawValue)
    }
  }
}

extension RowReader {
  /// Filters that are nested deeper are never written; reading them could use up the stack.
  private static let deepestFilter = 128

  fileprivate mutating func target() throws(FirestoreServiceError) -> QueryTarget {
    let database = DatabaseName(project: try text(), database: try text())
    let path = try path()
    let group = try optional { (reader) throws(FirestoreServiceError) in CollectionID(try reader.text()) }
    let filters = try list { (reader) throws(FirestoreServiceError) in try reader.filter(depth: 0) }
    let orders = try list { (reader) throws(FirestoreServiceError) in
      NormalQuery.Order(try reader.fieldPath(), descending: try reader.byte() == 1)
    }
    let limit = try optional { (reader) throws(FirestoreServiceError) in Int(clamping: try reader.int()) }
    let start = try optional { (reader) throws(FirestoreServiceError) in try reader.cursor() }
    let end = try optional { (reader) throws(FirestoreServiceError) in try reader.cursor() }
    return QueryTarget(
      database: database, path: path, collectionGroup: group, filters: filters, orders: orders, limit: limit,
      startAt: start, endAt: end)
  }

  private mutating func optional<Content>(
    _ content: (inout RowReader) throws(FirestoreServiceError) -> Content
  ) throws(FirestoreServiceError) -> Content? {
    try byte() == 0 ? nil : try content(&self)
  }

  private mutating func cursor() throws(FirestoreServiceError) -> StructuredQuery.Cursor {
    let before = try byte() == 1
    guard case .array(let values) = try value() else { throw .damaged }
    return StructuredQuery.Cursor(values: values, before: before)
  }

  private mutating func filter(depth: Int) throws(FirestoreServiceError) -> Filter {
    guard depth <= RowReader.deepestFilter else { throw .damaged }
    let tag = try byte()
    switch tag {
    case 1, 2:
      let filters = try list { (reader) throws(FirestoreServiceError) in try reader.filter(depth: depth + 1) }
      return .composite(tag == 1 ? .and : .or, filters)
    case 3:
      let path = try text()
      guard let operation = Filter.FieldOperator(rawValue: try text()) else { throw .damaged }
      return .field(path: path, operation, try value())
    case 4:
      let path = try text()
      guard let operation = Filter.UnaryOperator(rawValue: try text()) else { throw .damaged }
      return .unary(path: path, operation)
    default: throw .damaged
    }
  }
}
