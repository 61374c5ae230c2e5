import FirestoreInterop
import FirestoreModel
import StoreInterop

extension DatabaseEngine {
  /// Lists the documents of a collection, a page at a time.
  func listDocuments(_ request: ListDocumentsRequest) async throws -> ListDocumentsResponse {
    let query = try NormalQuery(try listQuery(request), parent: request.parent)
    guard request.pageSize >= 0 else { throw FirestoreError.refused("page_size cannot be negative.") }
    if request.showMissing, !request.orderBy.isEmpty || request.collectionID.isEmpty {
      throw FirestoreError.refused("show_missing goes with one collection, and without order_by.")
    }
    let size = request.pageSize == 0 ? 300 : Int(request.pageSize)
    let last = try PageToken.decode(request.pageToken).map(Place.init(bytes:))
    return try await reading(request.consistency) { context in
      context.note(query)
      var documents = try await QueryRunner(query: query, snapshot: context.snapshot).answer().documents
      if request.showMissing { documents = try await addMissing(to: documents, request, context.snapshot) }
      var start = 0
      if let last {
        let name = ResourceName(database: name, path: try last.path()).description
        guard let index = documents.firstIndex(where: { UTF8Order.equal($0.name, name) }) else {
          throw FirestoreError.refused("The page token is not valid here.")
        }
        start = index + 1
      }
      let page = documents[start...].prefix(size)
      var token = ""
      if page.endIndex < documents.endIndex, let last = page.last {
        token = PageToken.encode(Place(try ResourceName(document: last.name).path).bytes)
      }
      return ListDocumentsResponse(documents: page.map(query.projected), nextPageToken: token)
    }
  }

  private func listQuery(_ request: ListDocumentsRequest) throws(FirestoreError) -> StructuredQuery {
    var orders: [StructuredQuery.Order] = []
    for part in request.orderBy.split(separator: ",") {
      let words = part.split(separator: " ")
      guard let path = words.first, words.count <= 2,
        words.count == 1 || ["asc", "desc"].contains(words[1].lowercased())
      else { throw .refused("order_by \"\(request.orderBy)\" is not valid.") }
      orders.append(
        .init(fieldPath: String(path), words.count == 2 && words[1].lowercased() == "desc" ? .descending : .ascending))
    }
    return StructuredQuery(
      select: request.mask?.fieldPaths, from: [.init(collectionID: request.collectionID)], orderBy: orders)
  }

  /// Adds the names that have no document but something below them.
  private func addMissing(
    to documents: [Document], _ request: ListDocumentsRequest, _ snapshot: Snapshot
  ) async throws -> [Document] {
    let collection = try ResourceName(parent: request.parent).path.appending(request.collectionID)
    let present = Set(try documents.map { try ResourceName(document: $0.name).path })
    let missing = try await children(of: collection, in: snapshot).map(collection.appending).filter {
      !present.contains($0)
    }
    let all =
      documents.map { ($0, try? ResourceName(document: $0.name).path) }
      + missing.map { (Document(name: ResourceName(database: name, path: $0).description), $0) }
    return all.sorted { ($0.1 ?? .root) < ($1.1 ?? .root) }.map(\.0)
  }

  /// Lists the collections right below a parent.
  func listCollectionIDs(_ request: ListCollectionIDsRequest) async throws -> ListCollectionIDsResponse {
    let parent = try ResourceName(parent: request.parent).path
    guard request.pageSize >= 0 else { throw FirestoreError.refused("page_size cannot be negative.") }
    let size = request.pageSize == 0 ? 300 : Int(request.pageSize)
    let last = try PageToken.decode(request.pageToken).map { String(decoding: $0, as: UTF8.self) }
    return try await reading(at: request.readTime) { snapshot in
      let all = try await children(of: parent, in: snapshot)
      let rest = all.filter { id in last.map { UTF8Order.compare(id, $0) > 0 } ?? true }
      let page = rest.prefix(size)
      let token = page.count < rest.count ? PageToken.encode(Array((page.last ?? "").utf8)) : ""
      return ListCollectionIDsResponse(collectionIDs: Array(page), nextPageToken: token)
    }
  }

  /// The segments that follow a path in the keys of documents below it, each once.
  ///
  /// Jumps from one to the next, so it costs the segments and not the documents.
  private func children(of path: ResourcePath, in snapshot: Snapshot) async throws -> [String] {
    var prefix = KeyEncoder(continuing: keys.documents)
    prefix.append(path: path)
    var found: [String] = []
    var behind = prefix
    behind.appendNull()
    var rest = KeyRange(from: behind.range.upper ?? prefix.bytes, to: prefix.range.upper)
    while let entry = try await snapshot.reader.entries(in: rest, limit: 1).first {
      var decoder = KeyDecoder(entry.key, from: prefix.bytes.count)
      guard let element = try decoder.next() else { throw FirestoreError.damaged }
      let segment = try Place.segment(element)
      var child = prefix
      child.append(segment: segment)
      if try await isThere(child.range, in: snapshot) { found.append(segment) }
      rest = KeyRange(from: child.range.upper ?? entry.key, to: rest.upper)
    }
    for (place, row) in snapshot.past where row != nil {
      let segments = try place.path()
      guard segments.hasPrefix(path), segments.segments.count > path.segments.count else { continue }
      // A document of the collection itself is no child that something is below.
      if path.isCollection, segments.segments.count == path.segments.count + 1 { continue }
      found.append(segments.segments[path.segments.count])
    }
    return Set(found.map { ResourcePath([$0]) }).sorted().map(\.lastSegment)
  }

  /// Whether the moment that is read has a document in a range of the present.
  private func isThere(_ range: KeyRange, in snapshot: Snapshot) async throws -> Bool {
    if snapshot.past.isEmpty { return true }
    var isThere = false
    _ = try await snapshot.reader.scan(range, order: .ascending, limit: nil) { key, _ in
      isThere = snapshot.past[keys.place(ofDocumentKey: key.bytes)] == nil
      return isThere ? .stop : .next
    }
    return isThere
  }
}
