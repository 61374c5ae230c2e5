import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Users, bundles and named queries whose names are equal for Swift and differ in their bytes.
@Suite struct ByteKeyTests {
  /// "café" with a composed and with a decomposed letter.
  private static let names = ["caf\u{E9}", "cafe\u{301}"]
  private static let time = Timestamp(seconds: 1_700_000_000)

  private static func store() -> LocalStore {
    LocalStore(database: database, user: names[0], policy: .leastRecentlyUsed(bytes: nil))
  }

  private static func machine() -> ClientMachine {
    ClientMachine(ClientMachine.Configuration(database: database), local: store())
  }

  /// A cache made of its rows, as after a restart.
  private static func reloaded(_ rows: [CacheRow], user: String) throws -> LocalStore {
    var loader = CacheLoader(database: database)
    for row in rows { loader.add(key: row.key, value: try #require(row.value)) }
    #expect(loader.complaints.isEmpty)
    return loader.makeStore(user: user, policy: .leastRecentlyUsed(bytes: nil))
  }

  // MARK: Users

  /// The first user writes `rooms/a`, the second `rooms/b`.
  private static func storeOfTwoUsers() -> LocalStore {
    var store = store()
    _ = store.write([set("rooms/a", [:])], at: time)
    _ = store.changeUser(names[1])
    _ = store.write([set("rooms/b", [:])], at: time)
    return store
  }

  @Test func `pending writes belong to the user with these bytes`() {
    var store = Self.storeOfTwoUsers()
    #expect(store.queue.batches.map(\.paths) == [[path("rooms/b")]])
    #expect(!store.shown.document(path("rooms/a")).isFound && store.shown.document(path("rooms/b")).isFound)
    _ = store.changeUser(Self.names[0])
    #expect(store.queue.batches.map(\.paths) == [[path("rooms/a")]])
    #expect(store.shown.document(path("rooms/a")).isFound && !store.shown.document(path("rooms/b")).isFound)
  }

  @Test func `rows of pending writes are of the user with these bytes, also after a restart`() throws {
    var store = Self.storeOfTwoUsers()
    let rows = store.takeRows().filter { (try? CacheKey($0.key))?.isBatch == true }
    #expect(rows.count == 2 && Set(store.shown.writes.all.map(\.key.bytes)) == Set(rows.map(\.key)))
    for (number, name) in Self.names.enumerated() {
      let store = try Self.reloaded(rows, user: name)
      #expect(store.queue.batches.map(\.paths) == [[path(number == 0 ? "rooms/a" : "rooms/b")]])
    }
  }

  @Test func `keys of rows are equal when their bytes are`() {
    let keys: [(String) -> CacheKey] = [
      { .batch(user: .init($0), 1) }, { .bundle(.init($0)) }, { .namedQuery(.init($0)) },
    ]
    for key in keys { #expect(Set(Self.names.map(key)).count == 2) }
  }

  /// Answers the first write of the pipeline, and returns the callers that are notified.
  private func answer(_ machine: ClientMachine) throws -> [CallbackID] {
    var stream: Int?
    for action in machine.takeActions() { if case .openWrite(let number, _) = action { stream = number } }
    let number = try #require(stream)
    machine.writes.opened(stream: number)
    machine.writes.received(stream: number, WriteResponse(streamToken: [1]))
    let result = WriteResult(updateTime: Self.time)
    machine.writes.received(
      stream: number, WriteResponse(streamToken: [2], writeResults: [result], commitTime: Self.time))
    return machine.takeActions().compactMap { if case .finish(let id, nil) = $0 { id } else { nil } }
  }

  @Test func `the caller is notified of its write, and of none of another user`() throws {
    let machine = Self.machine()
    machine.core.write([set("rooms/a", [:])], at: Self.time, callback: 1)
    machine.changeUser(Self.names[1])
    machine.core.write([set("rooms/b", [:])], at: Self.time, callback: 2)
    machine.enableNetwork()
    #expect(machine.writes.pipeline.map(\.paths) == [[path("rooms/b")]])
    #expect(try answer(machine) == [2])
    machine.changeUser(Self.names[0])
    #expect(machine.writes.pipeline.map(\.paths) == [[path("rooms/a")]])
    #expect(try answer(machine) == [1])
  }

  @Test func `a user with other bytes is another user`() {
    let machine = Self.machine()
    machine.core.write([set("rooms/a", [:])], at: Self.time, callback: nil)
    machine.core.waitForPendingWrites(7)
    machine.changeUser(Self.names[0])
    #expect(machine.takeActions().isEmpty)
    machine.changeUser(Self.names[1])
    let codes = machine.takeActions().compactMap { if case .finish(7, let error) = $0 { error?.code } else { nil } }
    #expect(codes == [.cancelled])
  }

  // MARK: Bundles

  private static let root = "projects/demo/databases/(default)/documents"
  private static let json = "2020-01-01T00:00:00.000000Z"

  private static func element(_ json: String) -> String { "\(json.utf8.count)\(json)" }

  /// A bundle of documents, each of which is a result of a separate named query, and of nothing else.
  private static func bundle(_ id: String, _ contents: [(query: String, document: String)]) -> [UInt8] {
    var body = ""
    for (limit, content) in contents.enumerated() {
      let query = #"{"from":[{"collectionId":"rooms"}],"limit":{"value":\#(limit + 1)}}"#
      body += element(
        #"{"namedQuery":{"name":"\#(content.query)","readTime":"\#(json)","bundledQuery":{"parent":"\#(root)","#
          + #""structuredQuery":\#(query)}}}"#)
    }
    for content in contents { body += document(content.document, named: content.document, queries: [content.query]) }
    return bundle(id, count: contents.count, body)
  }

  private static func document(_ metadata: String, named name: String, queries: [String]) -> String {
    let names = queries.map { "\"\($0)\"" }.joined(separator: ",")
    return element(
      #"{"documentMetadata":{"name":"\#(root)/\#(metadata)","readTime":"\#(json)","exists":true,"queries":[\#(names)]}}"#
    )
      + element(#"{"document":{"name":"\#(root)/\#(name)","updateTime":"\#(json)","fields":{}}}"#)
  }

  private static func bundle(_ id: String, count: Int, _ body: String) -> [UInt8] {
    let metadata =
      #"{"metadata":{"id":"\#(id)","createTime":"\#(json)","version":1,"totalDocuments":\#(count),"#
      + #""totalBytes":\#(body.utf8.count)}}"#
    return Array((element(metadata) + body).utf8)
  }

  @Test func `a bundle is known by the bytes of its id, also after a restart`() throws {
    let machine = Self.machine()
    for (number, name) in Self.names.enumerated() {
      let bundle = Self.bundle(name, [("q\(number)", "rooms/r\(number)")])
      #expect(!machine.local.bundles.has(bundle, of: database))
      #expect(machine.core.loadBundle(bundle) { _ in } == nil)
      #expect(machine.local.bundles.has(bundle, of: database))
      #expect(machine.local.shown.document(path("rooms/r\(number)")).isFound)
    }
    #expect(machine.local.bundles.bundles.count == 2)
    #expect(try Self.reloaded(machine.takeRows(), user: "").bundles.bundles == machine.local.bundles.bundles)
  }

  @Test func `a named query is known by the bytes of its name, also after a restart`() throws {
    let machine = Self.machine()
    let contents = Self.names.enumerated().map { (query: $1, document: "rooms/r\($0)") }
    #expect(machine.core.loadBundle(Self.bundle("b", contents)) { _ in } == nil)
    let store = try Self.reloaded(machine.takeRows(), user: "")
    for (number, name) in Self.names.enumerated() {
      let query = try #require(machine.local.bundles.query(named: name))
      #expect(query.limit == number + 1)
      #expect(store.bundles.queries[.init(name)]?.query.limit == number + 1)
      let target = try #require(machine.local.targets.record(of: query.target))
      #expect(machine.local.targets.keys(of: target.id) == [path("rooms/r\(number)")])
    }
  }

  @Test func `a document of a bundle has the bytes of the name that its metadata has`() {
    let machine = Self.machine()
    let body = Self.document("rooms/\(Self.names[0])", named: "rooms/\(Self.names[1])", queries: [])
    #expect(machine.core.loadBundle(Self.bundle("b", count: 1, body)) { _ in }?.code == .invalidArgument)
    let ending = Self.document("rooms/a", named: "halls/rooms/a", queries: [])
    #expect(machine.core.loadBundle(Self.bundle("c", count: 1, ending)) { _ in }?.code == .invalidArgument)
  }
}
