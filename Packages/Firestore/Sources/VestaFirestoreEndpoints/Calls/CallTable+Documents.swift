import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop

/// The calls for one document, made of `batchGet` and `commit`.
extension CallTable {
  mutating func addDocumentCalls() {
    unary(
      "GetDocument", .schema(GetDocumentRequestWire.self), .schema(DocumentWire.self), resource: \.name
    ) { backend, request, context in
      try await document(request.name, request.mask, request.consistency, backend, context)
    }
    unary(
      "CreateDocument", .schema(CreateDocumentRequestWire.self), .schema(DocumentWire.self), resource: \.parent,
      isWrite: true
    ) { backend, request, context in
      var document = request.document
      let id = request.documentID.isEmpty ? DocumentIDs.random() : request.documentID
      document.name = "\(request.parent)/\(request.collectionID)/\(id)"
      return try await created(document, request.mask, backend, context)
    }
    unary(
      "UpdateDocument", .schema(UpdateDocumentRequestWire.self), .schema(DocumentWire.self), resource: \.document.name,
      isWrite: true
    ) { backend, request, context in
      let write = Write.update(request.document, mask: request.updateMask, precondition: request.precondition)
      return try await updated(request.document, write, request.mask, backend, context)
    }
    unary(
      "DeleteDocument", .schema(DeleteDocumentRequestWire.self), .schema(EmptyWire.self), resource: \.name,
      isWrite: true
    ) { backend, request, context in
      let write = Write.delete(request.name, precondition: request.precondition)
      _ = try await backend.commit(
        CommitRequest(database: try database(of: request.name), writes: [write]), context: context)
      return EmptyWire.Message()
    }
  }
}

/// Creates a document, and returns what the commit has stored.
///
/// Nothing is read, so a caller need not be allowed to read it.
private func created(
  _ document: Document, _ mask: DocumentMask?, _ backend: any FirestoreBackend, _ context: CallContext
) async throws -> Document {
  let write = Write.update(document, precondition: .exists(false))
  let request = CommitRequest(database: try database(of: document.name), writes: [write])
  let response = try await backend.commit(request, context: context)
  guard mask == nil else { return try await written(document, response, mask, backend, context) }
  return document.stored(at: response.commitTime, isNew: true)
}

/// Writes a document, and reads it as the commit has left it: its time says exactly that version.
private func updated(
  _ document: Document, _ write: Write, _ mask: DocumentMask?, _ backend: any FirestoreBackend, _ context: CallContext
) async throws -> Document {
  let request = CommitRequest(database: try database(of: write.name), writes: [write])
  let response = try await backend.commit(request, context: context)
  return try await written(document, response, mask, backend, context)
}

/// The document that a commit has left; of a caller that may write it and not read it, the fields that were sent.
private func written(
  _ sent: Document, _ commit: CommitResponse, _ mask: DocumentMask?, _ backend: any FirestoreBackend,
  _ context: CallContext
) async throws -> Document {
  do {
    return try await document(sent.name, mask, .readTime(commit.commitTime), backend, context)
  } catch let error as FirestoreServiceError where error.code == .permissionDenied {
    // The write has happened: a failure would have the caller repeat it.
    return sent.stored(at: commit.writeResults.first?.updateTime ?? commit.commitTime, isNew: false)
  }
}

extension Document {
  /// The document as a commit has stored it, without transforms.
  fileprivate func stored(at time: Timestamp, isNew: Bool) -> Document {
    Document(name: name, fields: fields.stored, createTime: isNew ? time : nil, updateTime: time)
  }
}

extension MapValue {
  /// The values as they are stored: timestamps to the microsecond.
  fileprivate var stored: MapValue {
    contains { $0.value.isFinerThanStored } ? MapValue(map { ($0.name, $0.value.stored) }) : self
  }
}

extension Value {
  fileprivate var isFinerThanStored: Bool {
    switch self {
    case .timestamp(let time): time.nanos % 1_000 != 0
    case .array(let elements): elements.contains(where: \.isFinerThanStored)
    case .map(let fields): fields.contains { $0.value.isFinerThanStored }
    default: false
    }
  }

  fileprivate var stored: Value {
    switch self {
    case .timestamp(let time): .timestamp(Timestamp(seconds: time.seconds, nanos: time.nanos / 1_000 * 1_000))
    case .array(let elements): .array(elements.map(\.stored))
    case .map(let fields): .map(fields.stored)
    default: self
    }
  }
}

private func document(
  _ name: String, _ mask: DocumentMask?, _ consistency: ReadConsistency, _ backend: any FirestoreBackend,
  _ context: CallContext
) async throws -> Document {
  var found: Document?
  let request = BatchGetDocumentsRequest(
    database: try database(of: name), documents: [name], mask: mask, consistency: consistency)
  try await backend.batchGet(request, context: context) { response in
    if case .found(let document)? = response.result { found = document }
  }
  guard let found else { throw ServiceStatus(.notFound, "Document \"\(name)\" not found.") }
  return found
}

/// Ids of documents as the service chooses them.
enum DocumentIDs {
  /// Twenty letters and digits, 119 bits.
  static func random() -> String { SystemRandom.alphanumeric(20) }
}
