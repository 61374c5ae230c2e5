package import VestaFirestoreBackend

/// The rules for writes.
package enum WriteRules {
  /// Checks the writes of one request.
  ///
  /// - Parameters:
  ///   - writes: The writes.
  ///   - database: The database of the request; all documents must be of it.
  /// - Returns: The paths of the documents, one for each write.
  /// - Throws: `INVALID_ARGUMENT` that names the document or the field.
  @discardableResult
  package static func check(_ writes: [Write], database: DatabaseName) throws(FirestoreServiceError) -> [ResourcePath] {
    var transforms: [ResourcePath: Int] = [:]
    var reader = DocumentPaths(in: database)
    var paths: [ResourcePath] = []
    paths.reserveCapacity(writes.count)
    // The check of each document has one of its depth; this one is for what adds the documents up.
    if RequestSize.isWorthChecking(writes) {
      try checkDepth(of: writes)
      try RequestSize.check(writes)
    }
    for write in writes {
      let path = try reader.path(of: write.name)
      guard reader.isOfDatabase else {
        throw .invalid("\"\(write.name)\" is not in the database of the request, \(database).")
      }
      try count(write, of: path, &transforms)
      try check(write)
      paths.append(path)
    }
    return paths
  }

  /// Counts the transforms of a document in all writes of a request.
  private static func count(
    _ write: Write, of path: ResourcePath, _ transforms: inout [ResourcePath: Int]
  ) throws(FirestoreServiceError) {
    guard !write.transforms.isEmpty else { return }
    transforms[path, default: 0] += write.transforms.count
    guard transforms[path, default: 0] <= FirestoreLimits.transforms else {
      throw .invalid("More than \(FirestoreLimits.transforms) transforms of one document: \(write.name)")
    }
  }

  /// Refuses two writes of one document, as a batch must not have them, and a batch that is too large.
  package static func checkDistinct(_ writes: [Write]) throws(FirestoreServiceError) {
    try checkDepth(of: writes)
    try RequestSize.check(writes)
    var names: Set<ResourceName> = []
    for write in writes where !names.insert(try ResourceName(document: write.name)).inserted {
      throw .invalid("BatchWrite writes to the document \(write.name) more than once.")
    }
  }

  /// Checks how deeply values are nested, before anything follows them down.
  private static func checkDepth(of writes: [Write]) throws(FirestoreServiceError) {
    for write in writes {
      if case .update(let document, _, _) = write.operation { try DocumentRules.checkDepth(of: document.fields) }
      for transform in write.transforms {
        guard let elements = transform.elements else { continue }
        let path = try FieldPath(parsing: transform.fieldPath)
        for element in elements { try DocumentRules.checkDepth(of: element, at: path) }
      }
    }
  }

  private static func check(_ write: Write) throws(FirestoreServiceError) {
    switch write.operation {
    case .update(let document, let mask, _):
      try DocumentRules.check(document)
      if let mask {
        let paths = try FieldMaskRules.paths(mask.fieldPaths)
        if paths.contains(where: \.isDocumentName) {
          throw .invalid("A mask of a write cannot have __name__ in it.")
        }
      }
    case .verify:
      if write.precondition == nil { throw .invalid("A verify write needs a precondition: \(write.name)") }
    case .transform:
      if write.transforms.isEmpty { throw .invalid("A transform needs at least one field transform: \(write.name)") }
    case .delete: break
    }
    for transform in write.transforms { try check(transform) }
    if write.transforms.count > 1 { try checkNesting(of: write.transforms) }
  }

  /// Refuses transforms of both a map and a field in it; several of one field are applied in order.
  private static func checkNesting(of transforms: [FieldTransform]) throws(FirestoreServiceError) {
    let paths = try transforms.map { (transform) throws(FirestoreServiceError) in
      try FieldPath(parsing: transform.fieldPath)
    }.sorted()
    for (outer, inner) in zip(paths, paths.dropFirst()) where inner.hasPrefix(outer) && inner != outer {
      throw .invalid("Cannot transform property \(outer) and its nested property at the same time.")
    }
  }

  private static func check(_ transform: FieldTransform) throws(FirestoreServiceError) {
    let path = try FieldPath(parsing: transform.fieldPath)
    try path.checkForQuery()
    if path.isDocumentName { throw .invalid("__name__ cannot be transformed.") }
    switch transform.operation {
    case .serverTimestamp: return
    case .increment(let operand), .maximum(let operand), .minimum(let operand):
      guard ValueClass(of: operand) == .number else {
        throw .invalid("The operand of the transform of \(path) must be a number.")
      }
    case .appendMissingElements(let elements), .removeAllFromArray(let elements):
      for element in elements {
        if case .array = element { throw .invalid("Cannot have an array directly in an array: \(path)") }
      }
    }
  }
}

extension FieldTransform {
  /// The operands that may be nested.
  fileprivate var elements: [Value]? {
    switch operation {
    case .appendMissingElements(let elements), .removeAllFromArray(let elements): elements
    case .serverTimestamp, .increment, .maximum, .minimum: nil
    }
  }
}
