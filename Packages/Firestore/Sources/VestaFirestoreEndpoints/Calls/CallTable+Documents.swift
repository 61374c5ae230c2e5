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
      "CreateDocument", .schema(CreateDocumentRequestWire.self), .schema(DocumentWire.self), resource: \.parent
    ) { backend, request, context in
      var document = request.document
      let id = request.documentID.isEmpty ? DocumentIDs.random() : request.documentID
      document.name = "\(request.parent)/\(request.collectionID)/\(id)"
      let write = Write.update(document, precondition: .exists(false))
      return try await written(write, request.mask, backend, context)
    }
    unary(
      "UpdateDocument", .schema(UpdateDocumentRequestWire.self), .schema(DocumentWire.self), resource: \.document.name
    ) { backend, request, context in
      let write = Write.update(request.document, mask: request.updateMask, precondition: request.precondition)
      return try await written(write, request.mask, backend, context)
    }
    unary(
      "DeleteDocument", .schema(DeleteDocumentRequestWire.self), .schema(EmptyWire.self), resource: \.name
    ) { backend, request, context in
      let write = Write.delete(request.name, precondition: request.precondition)
      _ = try await backend.commit(
        CommitRequest(database: try database(of: request.name), writes: [write]), context: context)
      return EmptyWire.Message()
    }
  }
}

/// Writes a document, and reads it as the commit has left it: its time says exactly that version.
private func written(
  _ write: Write, _ mask: DocumentMask?, _ backend: any FirestoreBackend, _ context: CallContext
) async throws -> Document {
  let request = CommitRequest(database: try database(of: write.name), writes: [write])
  let response = try await backend.commit(request, context: context)
  return try await document(write.name, mask, .readTime(response.commitTime), backend, context)
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

/// The database of a resource name: `projects/P/databases/D`.
private func database(of name: String) throws(ServiceStatus) -> String {
  _ = try project(of: name)
  return name.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).prefix(4).joined(separator: "/")
}

/// Ids of documents as the service chooses them.
enum DocumentIDs {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

  /// Twenty letters and digits, 119 bits.
  static func random() -> String {
    String((0..<20).map { _ in alphabet[Int.random(in: alphabet.indices)] })
  }
}
