package import VestaFirestoreBackend

extension Write {
  /// The outcome of a write for a document.
  package struct Outcome: Sendable, Hashable {
    /// The document after the write; `nil` when there is none.
    package let document: Document?
    /// Whether anything has changed; a write that changes nothing keeps the document's time.
    package let isChange: Bool
    /// The result to report.
    package let result: WriteResult
  }

  /// Applies the write to a document.
  ///
  /// - Parameters:
  ///   - document: The document before; `nil` when there is none.
  ///   - commitTime: The time of the commit.
  /// - Returns: The result. `WriteRules` has found nothing wrong with the write.
  /// - Throws: The failure of the precondition; `INVALID_ARGUMENT` for field paths that are none, and for a document
  ///   that breaks a rule after all: a mask or a transform has made it too large, say.
  package func applied(to document: Document?, commitTime: Timestamp) throws(FirestoreServiceError) -> Outcome {
    try precondition?.check(document, name: name, isVerification: isVerification)
    switch operation {
    case .verify: return Outcome(document: document, isChange: false, result: WriteResult())
    case .delete: return Outcome(document: nil, isChange: document != nil, result: WriteResult())
    case .update(let update, let mask, _):
      let paths = try mask.map { (mask) throws(FirestoreServiceError) in try FieldMaskRules.written(mask.fieldPaths) }
      let fields = Write.merged(update.fields.stored, into: document?.fields, paths: paths)
      let isMade = paths != nil || !transforms.isEmpty
      return try outcome(of: fields, replacing: document, isMade: isMade, commitTime: commitTime)
    case .transform:
      return try outcome(of: document?.fields ?? [:], replacing: document, isMade: true, commitTime: commitTime)
    }
  }

  private var isVerification: Bool {
    if case .verify = operation { return true }
    return false
  }

  /// Sets the paths of a mask to what the update has there, and takes away what it has not.
  private static func merged(_ update: MapValue, into fields: MapValue?, paths: [FieldPath]?) -> MapValue {
    guard let paths else { return update }
    var result = fields ?? [:]
    for path in paths {
      if let value = update[path] { result.set(value, at: path) } else { result.remove(at: path) }
    }
    return result
  }

  /// - Parameter isMade: Whether the document is another one than that of the request, which has been checked.
  private func outcome(
    of fields: MapValue, replacing document: Document?, isMade: Bool, commitTime: Timestamp
  ) throws(FirestoreServiceError) -> Outcome {
    var fields = fields
    var results: [Value] = []
    for transform in transforms {
      let path = try FieldPath(parsing: transform.fieldPath)
      let (value, result) = transform.applied(to: fields[path], requestTime: commitTime)
      fields.set(value, at: path)
      results.append(result)
    }
    let isChange = document?.fields != fields
    let time = isChange ? commitTime : document?.updateTime ?? commitTime
    let after = Document(name: name, fields: fields, createTime: document?.createTime ?? commitTime, updateTime: time)
    if isMade { try DocumentRules.check(after) }
    let result = WriteResult(updateTime: time, transformResults: results)
    return Outcome(document: after, isChange: isChange, result: result)
  }
}

extension Precondition {
  /// Checks a document, or that there is none.
  ///
  /// - Throws: `NOT_FOUND`, `ALREADY_EXISTS` or `FAILED_PRECONDITION`; a failed verification throws the last of these.
  package func check(
    _ document: Document?, name: String, isVerification: Bool = false
  ) throws(FirestoreServiceError) {
    switch self {
    case .exists(true) where document == nil:
      throw FirestoreServiceError(isVerification ? .failedPrecondition : .notFound, "No document to update: \(name)")
    case .exists(false) where document != nil:
      throw FirestoreServiceError(
        isVerification ? .failedPrecondition : .alreadyExists, "Document already exists: \(name)"
      )
    case .updateTime(let required) where document?.updateTime != required:
      // Also where there is no document, whose version is 0: so the service answers; its emulator has NOT_FOUND, which
      // clients do not try a transaction again for.
      let stored = document?.updateTime?.microseconds ?? 0
      throw FirestoreServiceError(
        .failedPrecondition,
        "the stored version (\(stored)) does not match the required base version (\(required.microseconds ?? 0))"
      )
    default: return
    }
  }
}
