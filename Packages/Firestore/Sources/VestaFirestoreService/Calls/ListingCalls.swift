import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

extension FirestoreCall {
  /// Lists the documents of a collection, a page at a time.
  ///
  /// A page is a query that begins after the page before, so it costs its documents. A token is a position in the
  /// order and not a document: it stays good when the document is changed or deleted.
  func listDocuments(_ request: ListDocumentsRequest) async throws -> ListDocumentsResponse {
    guard request.pageSize >= 0 else { throw FirestoreServiceError.refused("page_size cannot be negative.") }
    if request.showMissing, !request.orderBy.isEmpty || request.collectionID.isEmpty {
      throw FirestoreServiceError.refused("show_missing goes with one collection, and without order_by.")
    }
    let size = request.pageSize == 0 ? options.tuning.queries.listPage : Int(request.pageSize)
    let query = try page(of: request, size: size)
    let scope = request.showMissing ? ChangeScope.everything : ChangeScope(query)
    var asked = try listQuery(request)
    asked.limit = Int32(clamping: size)
    let (guarded, guardedQuery, pages) = (guarded, asked, DocumentPages(request))
    return try await reading(request.consistency, scope) { context in
      try await guarded?.list(query.parent, guardedQuery, SnapshotState(snapshot: context.snapshot))
      context.note(query)
      var documents = try await QueryRunner(query: query, snapshot: context.snapshot).answer().documents
      if request.showMissing { documents = try await addMissing(to: documents, of: query, context.snapshot) }
      return Self.page(of: documents, size, query, pages)
    }
  }

  private static func page(
    of documents: [Document], _ size: Int, _ query: NormalQuery, _ pages: DocumentPages
  ) -> ListDocumentsResponse {
    let page = documents.prefix(size)
    var token = ""
    if page.count < documents.count, let last = page.last {
      token = pages.token(after: query.orders.compactMap { last.value(at: $0.path) })
    }
    return ListDocumentsResponse(documents: page.map(query.projected), nextPageToken: token)
  }

  /// The query of one page, and of one document more, which shows whether there is another page.
  private func page(of request: ListDocumentsRequest, size: Int) throws(FirestoreServiceError) -> NormalQuery {
    var query = try listQuery(request)
    _ = try NormalQuery(query, parent: request.parent)
    query.limit = Int32(clamping: size + 1)
    query.startAt = try DocumentPages(request).values(request.pageToken).map { .init(values: $0, before: false) }
    do {
      let page = try NormalQuery(query, parent: request.parent)
      guard page.startAt.map({ $0.values.count == page.orders.count }) ?? true else { throw DocumentPages.invalid }
      return page
    } catch {
      throw DocumentPages.invalid
    }
  }

  private func listQuery(_ request: ListDocumentsRequest) throws(FirestoreServiceError) -> StructuredQuery {
    let orders = try OrderByText.orders(request.orderBy)
    // A mask without fields is one for the names, other than a selection without fields.
    let select = (request.mask?.fieldPaths).map { $0.isEmpty ? ["__name__"] : $0 }
    return StructuredQuery(
      select: select, from: [.init(collectionID: request.collectionID)], orderBy: orders)
  }

  /// Adds the names that have no document but something below them, for one page.
  private func addMissing(
    to documents: [Document], of query: NormalQuery, _ snapshot: Snapshot
  ) async throws -> [Document] {
    let collection = query.parent.path.appending(query.collectionID ?? "")
    let last = query.startAt?.values.last?.documentPath?.lastSegment
    let count = query.limit ?? .max
    let children = try await CollectionWalk(snapshot).children(of: collection, after: last, atMost: count)
    var named = documents.compactMap { document in
      (try? ResourceName(document: document.name)).map { (id: $0.path.lastSegment, document) }
    }
    let present = Set(named.map { Array($0.id.utf8) })
    for id in children where !present.contains(Array(id.utf8)) {
      named.append((id, Document(name: ResourceName(database: name, path: collection.appending(id)).description)))
    }
    return named.sorted { ResourcePath.compare(segment: $0.id, $1.id) < 0 }.prefix(count).map(\.1)
  }

  /// Lists the collections right below a parent.
  func listCollectionIDs(_ request: ListCollectionIDsRequest) async throws -> ListCollectionIDsResponse {
    let parent = try ResourceName(parent: request.parent).path
    guard request.pageSize >= 0 else { throw FirestoreServiceError.refused("page_size cannot be negative.") }
    let size = request.pageSize == 0 ? options.tuning.queries.listPage : Int(request.pageSize)
    let pages = DocumentPages(request)
    let last = try pages.id(request.pageToken)
    return try await engine.reading(at: request.readTime, .everything) { snapshot in
      let found = try await CollectionWalk(snapshot).children(of: parent, after: last, atMost: size + 1)
      let page = found.prefix(size)
      let token = page.count < found.count ? pages.token(after: page.last ?? "") : ""
      return ListCollectionIDsResponse(collectionIDs: Array(page), nextPageToken: token)
    }
  }
}
