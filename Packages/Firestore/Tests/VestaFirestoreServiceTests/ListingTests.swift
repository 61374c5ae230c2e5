import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreService

struct ListingTests {
  private func filled() async throws -> FirestoreEngine {
    let engine = makeEngine()
    for path in ["rooms/__id2__", "rooms/__id10__", "rooms/a", "rooms/c/messages/m", "rooms/d/x/y/z/w", "halls/h"] {
      try await engine.commit(update(path, ["p": .string(path)]))
    }
    return engine
  }

  private func list(_ engine: FirestoreEngine, size: Int32, missing: Bool) async throws -> [[String]] {
    var pages: [[String]] = []
    var request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageSize: size, showMissing: missing)
    repeat {
      let page = try await engine.listDocuments(request, context: owner)
      pages.append(page.documents.map { String($0.name.dropFirst(root.count + 7)) })
      request.pageToken = page.nextPageToken
    } while !request.pageToken.isEmpty
    return pages
  }

  @Test func `pages follow the order of names`() async throws {
    let engine = try await filled()
    #expect(try await list(engine, size: 2, missing: false) == [["__id2__", "__id10__"], ["a"]])
  }

  @Test func `missing parents are listed when asked for`() async throws {
    let engine = try await filled()
    #expect(try await list(engine, size: 2, missing: true) == [["__id2__", "__id10__"], ["a", "c"], ["d"]])
  }

  @Test func `collections are listed by what is below them`() async throws {
    let engine = try await filled()
    for (parent, ids) in [(root, ["halls", "rooms"]), (name("rooms/d"), ["x"]), (name("rooms/a"), [])] {
      let response = try await engine.listCollectionIDs(ListCollectionIDsRequest(parent: parent), context: owner)
      #expect(response.collectionIDs == ids)
    }
    let page = try await engine.listCollectionIDs(ListCollectionIDsRequest(parent: root, pageSize: 1), context: owner)
    #expect(page.collectionIDs == ["halls"])
    let next = ListCollectionIDsRequest(parent: root, pageSize: 1, pageToken: page.nextPageToken)
    #expect(try await engine.listCollectionIDs(next, context: owner).collectionIDs == ["rooms"])
  }

  @Test func `the past lists what was there then`() async throws {
    let engine = try await filled()
    let time = try await engine.commit(update("yards/y", [:])).commitTime
    try await engine.commit(.delete(name("halls/h")), .delete(name("yards/y")), update("new/n", [:]))
    let request = ListCollectionIDsRequest(parent: root, readTime: time)
    #expect(try await engine.listCollectionIDs(request, context: owner).collectionIDs == ["halls", "rooms", "yards"])
  }

  @Test func `a foreign page token is refused`() async throws {
    let engine = try await filled()
    for token in ["zz", "abc", "00"] {
      let request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageToken: token)
      let error = await failure { _ = try await engine.listDocuments(request, context: owner) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `the page token of another list of documents is refused`() async throws {
    let engine = try await filled()
    func page(_ change: (inout ListDocumentsRequest) -> Void) async throws -> ListDocumentsResponse {
      var request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageSize: 1, orderBy: "p")
      change(&request)
      return try await engine.listDocuments(request, context: owner)
    }
    let token = try await page { _ in }.nextPageToken
    #expect(try await page { ($0.pageToken, $0.pageSize) = (token, 5) }.documents.count == 2)
    let others: [(inout ListDocumentsRequest) -> Void] = [
      { $0.orderBy = "p desc" }, { $0.orderBy = "q" }, { $0.collectionID = "halls" }, { $0.parent = name("rooms/c") },
      { ($0.orderBy, $0.showMissing) = ("", true) },
    ]
    for (index, other) in others.enumerated() {
      let error = await failure {
        _ = try await page {
          other(&$0)
          $0.pageToken = token
        }
      }
      #expect(error?.code == .invalidArgument, "\(index)")
    }
  }

  @Test func `the page token of another list of collections is refused`() async throws {
    let engine = try await filled()
    let page = try await engine.listCollectionIDs(ListCollectionIDsRequest(parent: root, pageSize: 1), context: owner)
    let other = ListCollectionIDsRequest(parent: name("rooms/d"), pageToken: page.nextPageToken)
    #expect(await failure { _ = try await engine.listCollectionIDs(other, context: owner) }?.code == .invalidArgument)
    let documents = ListDocumentsRequest(parent: root, collectionID: "rooms", pageToken: page.nextPageToken)
    #expect(await failure { _ = try await engine.listDocuments(documents, context: owner) }?.code == .invalidArgument)
  }
}

struct ListingCostTests {
  private let store = CountingStore()
  private let engine: FirestoreEngine

  init() async throws {
    engine = makeEngine(on: store)
    for start in stride(from: 0, to: 600, by: 200) {
      var writes: [Write] = []
      for number in start..<start + 200 {
        writes.append(update("rooms/r\(1000 + number)", ["n": .integer(Int64(number % 97))]))
        // Documents with much below them, half of which are not there themselves.
        let parent = number.isMultiple(of: 2) ? "rooms/r\(1000 + number)" : "rooms/m\(1000 + number)"
        for child in 0..<3 where number < 100 { writes.append(update("\(parent)/messages/\(child)", [:])) }
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  /// Lists in pages and checks what each of them reads.
  private func pages(_ request: ListDocumentsRequest, atMost limit: Int) async throws -> [[String]] {
    var pages: [[String]] = []
    var request = request
    repeat {
      let (rows, page) = try await store.rows { try await engine.listDocuments(request, context: owner) }
      #expect(rows.total <= limit, "\(rows)")
      pages.append(page.documents.map(\.name))
      request.pageToken = page.nextPageToken
    } while !request.pageToken.isEmpty
    return pages
  }

  @Test func `a page reads its documents`() async throws {
    let request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageSize: 50)
    let pages = try await pages(request, atMost: 60)
    #expect(pages.map(\.count) == Array(repeating: 50, count: 12))
    #expect(pages.joined().elementsEqual((1000..<1600).map { name("rooms/r\($0)") }))
  }

  @Test func `missing parents are found without reading what is below them`() async throws {
    let request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageSize: 25, showMissing: true)
    let pages = try await pages(request, atMost: 60)
    let missing = stride(from: 1, to: 100, by: 2).map { name("rooms/m\(1000 + $0)") }
    #expect(pages.joined().elementsEqual(missing + (1000..<1600).map { name("rooms/r\($0)") }))
  }

  @Test func `pages in an order use an index`() async throws {
    var request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageSize: 40, orderBy: "n desc")
    let all = StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n", .descending)])
    let expected = try await engine.query(all).map(\.name)
    try await engine.engine(database).indexes.settle()
    #expect(try await pages(request, atMost: 100).joined().elementsEqual(expected))

    // A page continues where the one before ended, though its last document was deleted.
    let first = try await engine.listDocuments(request, context: owner)
    try await engine.commit(.delete(expected[39]))
    request.pageToken = first.nextPageToken
    #expect(try await engine.listDocuments(request, context: owner).documents.first?.name == expected[40])
  }
}
