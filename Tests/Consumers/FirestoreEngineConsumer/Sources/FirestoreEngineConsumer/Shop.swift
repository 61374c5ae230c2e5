import VestaFirestoreBackend

/// A shop on the document engine.
struct Shop {
  let backend: any FirestoreBackend

  private let database = "projects/shop/databases/(default)"
  private let context = CallContext(caller: .owner)
  private var root: String { database + "/documents" }

  init(backend: any FirestoreBackend) { self.backend = backend }

  /// Puts goods on the shelf and finds the cheap ones.
  func open() async throws {
    let goods: [(String, Int64, Int64)] = [("tea", 4, 5), ("cake", 7, 2), ("jam", 3, 9)]
    let writes = goods.map { id, price, stock in
      Write.update(Document(name: "\(root)/goods/\(id)", fields: ["price": .integer(price), "stock": .integer(stock)]))
    }
    let commit = try await backend.commit(CommitRequest(database: database, writes: writes), context: context)
    try expect(commit.writeResults.count == 3, "three documents are written in one commit")

    let cheap = StructuredQuery(
      from: [.init(collectionID: "goods")],
      filter: .field(path: "price", .lessThan, .integer(5)),
      orderBy: [.init(fieldPath: "price", .descending)]
    )
    var found: [String] = []
    try await backend.runQuery(RunQueryRequest(parent: root, query: cheap), context: context) { response in
      if let document = response.document { found.append(String(document.name.dropFirst(root.count + 7))) }
    }
    try expect(found == ["tea", "jam"], "the cheap goods are found, the dearest first")
  }

  /// Sells two packets of tea, each in a transaction that reads the stock first.
  func sell() async throws {
    for _ in 0..<2 {
      let begin = BeginTransactionRequest(database: database)
      let id = try await backend.beginTransaction(begin, context: context).transaction
      let stock = try await stock(of: "tea", .transaction(id))
      let left = Document(name: "\(root)/goods/tea", fields: ["stock": .integer(stock - 1)])
      let write = Write.update(left, mask: DocumentMask(fieldPaths: ["stock"]), precondition: .exists(true))
      _ = try await backend.commit(
        CommitRequest(database: database, writes: [write], transaction: id), context: context)
    }
    try expect(try await stock(of: "tea") == 3, "two transactions have sold two packets")
  }

  /// Follows what runs out.
  func watch() async throws {
    let call = try await backend.listen(database: database, context: context)
    let empty = StructuredQuery(
      from: [.init(collectionID: "goods")], filter: .field(path: "stock", .equal, .integer(0)))
    call.send(.addTarget(Target(id: 2, .query(parent: root, empty))))
    var isCurrent = false
    var soldOut: [String] = []
    follow: for try await batch in call.responses {
      for response in batch {
        switch response {
        case .documentChange(let change): soldOut.append(change.document.name)
        case .targetChange(let change) where change.kind == .noChange && change.targetIDs.isEmpty:
          if !soldOut.isEmpty { break follow }
          guard !isCurrent else { continue }
          isCurrent = true
          let none = Document(name: "\(root)/goods/jam", fields: ["stock": .integer(0)])
          let write = Write.update(none, mask: DocumentMask(fieldPaths: ["stock"]))
          _ = try await backend.commit(CommitRequest(database: database, writes: [write]), context: context)
        default: continue
        }
      }
    }
    try expect(soldOut == ["\(root)/goods/jam"], "the live target tells what has run out")
  }

  /// How much of something is there.
  func stock(of id: String, _ consistency: ReadConsistency = .latest) async throws -> Int64 {
    var stock: Int64 = 0
    let request = BatchGetDocumentsRequest(
      database: database, documents: ["\(root)/goods/\(id)"], consistency: consistency)
    try await backend.batchGet(request, context: context) { response in
      if case .found(let document)? = response.result, case .integer(let count)? = document.fields["stock"] {
        stock = count
      }
    }
    return stock
  }
}
