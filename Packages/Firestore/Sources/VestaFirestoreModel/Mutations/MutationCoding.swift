package import VestaFirestoreBackend

/// The encoding of mutations in a row; the tags are on disk: never change one.
extension Mutation {
  /// The bytes of the mutation.
  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(mutation: self)
    return writer.bytes
  }

  /// A mutation of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    self = try reader.mutation()
  }
}

extension MutationBatch {
  /// The bytes of the batch.
  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(int: Int64(id))
    writer.write(time: localWriteTime)
    for list in [baseMutations, mutations] {
      writer.write(count: list.count)
      for mutation in list { writer.write(mutation: mutation) }
    }
    if let requestID {
      writer.write(blob: requestID.queue)
      writer.write(int: requestID.number)
    }
    return writer.bytes
  }

  /// A batch of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    guard let id = Int(exactly: try reader.int()) else { throw .damaged }
    let time = try reader.time()
    let base = try reader.list { (reader) throws(FirestoreServiceError) in try reader.mutation() }
    let mutations = try reader.list { (reader) throws(FirestoreServiceError) in try reader.mutation() }
    // Older clients wrote no more than that.
    let requestID =
      reader.isAtEnd ? nil : WriteRequestID(queue: try reader.blob(), number: try reader.int())
    self.init(id: id, localWriteTime: time, baseMutations: base, mutations: mutations, requestID: requestID)
  }
}

extension Overlay {
  /// The bytes of the overlay.
  package var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(int: Int64(largestBatchID))
    writer.write(mutation: mutation)
    return writer.bytes
  }

  /// An overlay of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    guard let id = Int(exactly: try reader.int()) else { throw .damaged }
    self.init(largestBatchID: id, try reader.mutation())
  }
}

extension RowWriter {
  /// Appends a timestamp.
  package mutating func write(time: Timestamp) {
    write(int: time.seconds)
    write(count: Int(time.nanos))
  }

  /// Appends the segments of a path.
  package mutating func write(path: ResourcePath) {
    write(count: path.segments.count)
    for segment in path.segments { write(text: segment) }
  }

  fileprivate mutating func write(mutation: Mutation) {
    write(path: mutation.path)
    switch mutation.change {
    case .set(let fields):
      write(byte: 1)
      write(map: fields)
    case .patch(let fields, let mask):
      write(byte: 2)
      write(map: fields)
      write(count: mask.paths.count)
      for path in mask.paths { write(fieldPath: path) }
    case .delete: write(byte: 3)
    case .verify: write(byte: 4)
    }
    write(count: mutation.transforms.count)
    for transform in mutation.transforms {
      write(fieldPath: transform.path)
      write(transform.operation)
    }
    write(mutation.precondition)
  }

  /// Appends the names of a field path, which may be longer than a path of a request.
  package mutating func write(fieldPath: FieldPath) {
    write(count: fieldPath.names.count)
    for name in fieldPath.names { write(text: name) }
  }

  private mutating func write(_ precondition: Precondition?) {
    switch precondition {
    case nil: write(byte: 0)
    case .exists(false)?: write(byte: 1)
    case .exists(true)?: write(byte: 2)
    case .updateTime(let time)?:
      write(byte: 3)
      write(time: time)
    }
  }

  private mutating func write(_ operation: FieldTransform.Operation) {
    let (tag, operand): (UInt8, Value) =
      switch operation {
      case .serverTimestamp: (1, .null)
      case .increment(let value): (2, value)
      case .maximum(let value): (3, value)
      case .minimum(let value): (4, value)
      case .appendMissingElements(let values): (5, .array(values))
      case .removeAllFromArray(let values): (6, .array(values))
      }
    write(byte: tag)
    write(value: operand)
  }
}

extension RowReader {
  /// Reads a timestamp.
  package mutating func time() throws(FirestoreServiceError) -> Timestamp {
    let seconds = try int()
    guard let nanos = Int32(exactly: try count()) else { throw .damaged }
    return Timestamp(seconds: seconds, nanos: nanos)
  }

  /// Reads the segments of a path.
  package mutating func path() throws(FirestoreServiceError) -> ResourcePath {
    ResourcePath(try list { (reader) throws(FirestoreServiceError) in try reader.text() })
  }

  /// Reads a field path.
  package mutating func fieldPath() throws(FirestoreServiceError) -> FieldPath {
    let names = try list { (reader) throws(FirestoreServiceError) in try reader.text() }
    guard !names.isEmpty else { throw .damaged }
    return FieldPath(names)
  }

  /// Reads as many elements as the count before them says.
  package mutating func list<Element>(
    _ element: (inout RowReader) throws(FirestoreServiceError) -> Element
  ) throws(FirestoreServiceError) -> [Element] {
    let count = try count()
    guard count >= 0 else { throw .damaged }
    var elements: [Element] = []
    // Every element takes a byte or more, so a damaged count ends at the end of the bytes.
    for _ in 0..<count { elements.append(try element(&self)) }
    return elements
  }

  fileprivate mutating func mutation() throws(FirestoreServiceError) -> Mutation {
    let path = try path()
    let change: Mutation.Change
    switch try byte() {
    case 1: change = .set(try map())
    case 2:
      let fields = try map()
      change = .patch(
        fields, mask: FieldMask(try list { (reader) throws(FirestoreServiceError) in try reader.fieldPath() }))
    case 3: change = .delete
    case 4: change = .verify
    default: throw .damaged
    }
    let transforms = try list { (reader) throws(FirestoreServiceError) in
      Mutation.Transform(try reader.fieldPath(), try reader.operation())
    }
    return Mutation(path, change, transforms: transforms, precondition: try precondition())
  }

  private mutating func precondition() throws(FirestoreServiceError) -> Precondition? {
    switch try byte() {
    case 0: return nil
    case 1: return .exists(false)
    case 2: return .exists(true)
    case 3: return .updateTime(try time())
    default: throw .damaged
    }
  }

  private mutating func operation() throws(FirestoreServiceError) -> FieldTransform.Operation {
    let tag = try byte()
    switch (tag, try value()) {
    case (1, _): return .serverTimestamp
    case (2, let operand): return .increment(operand)
    case (3, let operand): return .maximum(operand)
    case (4, let operand): return .minimum(operand)
    case (5, .array(let elements)): return .appendMissingElements(elements)
    case (6, .array(let elements)): return .removeAllFromArray(elements)
    default: throw .damaged
    }
  }
}
