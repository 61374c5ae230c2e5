import FirestoreInterop
import Testing
import VestaFirestoreService

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

  @Test func pagesFollowTheOrderOfNames() async throws {
    let engine = try await filled()
    #expect(try await list(engine, size: 2, missing: false) == [["__id2__", "__id10__"], ["a"]])
  }

  @Test func missingParentsAreListedWhenAskedFor() async throws {
    let engine = try await filled()
    #expect(try await list(engine, size: 2, missing: true) == [["__id2__", "__id10__"], ["a", "c"], ["d"]])
  }

  @Test func collectionsAreListedByWhatIsBelowThem() async throws {
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

  @Test func thePastListsWhatWasThereThen() async throws {
    let engine = try await filled()
    let time = try await engine.commit(update("yards/y", [:])).commitTime
    try await engine.commit(.delete(name("halls/h")), .delete(name("yards/y")), update("new/n", [:]))
    let request = ListCollectionIDsRequest(parent: root, readTime: time)
    #expect(try await engine.listCollectionIDs(request, context: owner).collectionIDs == ["halls", "rooms", "yards"])
  }

  @Test func aForeignPageTokenIsRefused() async throws {
    let engine = try await filled()
    for token in ["zz", "abc", "00"] {
      let request = ListDocumentsRequest(parent: root, collectionID: "rooms", pageToken: token)
      let error = await failure { _ = try await engine.listDocuments(request, context: owner) }
      #expect(error != nil)
    }
  }
}
