package import VestaFirestoreBackend

/// The size of a request.
///
/// Names, fields, masks and transforms count, by the rules of `DocumentSize`: that is a little less than the wire's
/// count, and the same for callers that use no wire.
package enum RequestSize {
  /// Whether writes may be too large together: few documents cannot, as each has a separate limit.
  package static func isWorthChecking(_ writes: [Write]) -> Bool {
    writes.count > 8 || writes.contains { !$0.transforms.isEmpty }
  }

  /// Checks the writes of a request, whose values must not be nested too deeply.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the service's message.
  package static func check(_ writes: [Write]) throws(FirestoreServiceError) {
    guard isWorthChecking(writes) else { return }
    var size = 0
    for write in writes {
      size += self.size(of: write)
      guard size <= FirestoreLimits.requestSize else {
        throw .invalid("Request payload size exceeds the limit: \(FirestoreLimits.requestSize) bytes.")
      }
    }
  }

  /// The size of one write.
  package static func size(of write: Write) -> Int {
    var size = write.name.utf8.count
    if case .update(let document, let mask, _) = write.operation {
      size += DocumentSize.size(of: document.fields)
      size += mask?.fieldPaths.reduce(0) { $0 + $1.utf8.count + 1 } ?? 0
    }
    return write.transforms.reduce(size) { $0 + $1.fieldPath.utf8.count + 1 + self.size(of: $1) }
  }

  private static func size(of transform: FieldTransform) -> Int {
    switch transform.operation {
    case .serverTimestamp: 1
    case .increment(let value), .maximum(let value), .minimum(let value): DocumentSize.size(of: value)
    case .appendMissingElements(let values), .removeAllFromArray(let values): DocumentSize.size(of: .array(values))
    }
  }
}
