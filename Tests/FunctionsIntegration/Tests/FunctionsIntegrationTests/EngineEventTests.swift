import Foundation
import Testing
import VestaAuthBackend
import VestaCore
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaFunctionsService
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

/// Changes of the real engines, and the functions that are notified of them.
@Suite struct EngineEventTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `documents: created, changed, deleted, with all kinds of values`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<CloudEvent<EventChange<EventDocument>>>()
    let created = Log<CloudEvent<EventDocument>>()
    try app.registry.onDocumentWritten("written", document: "rooms/{room}/messages/{id}") { log.add($0) }
    try app.registry.onDocumentCreated("created", document: "{all=**}") { created.add($0) }
    try await app.set("rooms/a", [:])
    try await app.set(
      "rooms/a/messages/1",
      [
        "text": .string("Hello"), "count": .integer(.max), "ratio": .double(.infinity), "none": .null,
        "time": .timestamp(Timestamp(microseconds: 1_500_000)), "bytes": .bytes([1, 2]),
        "place": .geoPoint(GeoPoint(latitude: 1, longitude: 2)), "ref": .reference(app.name("rooms/a")),
        "list": .array([.boolean(true), .map(["x": .integer(1)])]),
      ])
    try await app.set("rooms/a/messages/1", ["text": .string("Changed")])
    // Nothing is changed, and nothing is notified.
    try await app.set("rooms/a/messages/1", ["text": .string("Changed")])
    try await app.commit(.delete(app.name("rooms/a/messages/1")))
    await log.wait { $0.count == 3 }
    let events = log.entries
    #expect(events.map { $0.type.split(separator: ".").last ?? "" } == ["created", "updated", "deleted"])
    #expect(events.allSatisfy { $0.params == ["room": "a", "id": "1"] })
    #expect(Set(events.map(\.id)).count == 3)
    #expect(events[0].data.before == nil)
    let first = try #require(events[0].data.after)
    #expect(first.get("text") as? String == "Hello")
    #expect(first.get("count") as? Int == .max)
    #expect(first.get("ratio") as? Double == .infinity)
    #expect(first.get("none") is NSNull)
    #expect(first.get("time") as? Date == Date(timeIntervalSince1970: 1.5))
    #expect(first.get("bytes") as? Data == Data([1, 2]))
    #expect(first.get("place") as? EventGeoPoint != nil)
    #expect(first.get("ref") as? String == "rooms/a")
    #expect(((first.get("list") as? [Any])?.last as? [String: Any])?["x"] as? Int == 1)
    #expect(events[1].data.before?.get("text") as? String == "Hello")
    #expect(events[1].data.after?.get("text") as? String == "Changed")
    #expect(events[2].data.before?.get("text") as? String == "Changed")
    #expect(events[2].data.after == nil)
    await created.wait { $0.count == 2 }
    // Events of different documents arrive in any order.
    #expect(Set(created.entries.map(\.subject)) == ["rooms/a", "rooms/a/messages/1"])
    struct Message: Decodable { let text: String }
    #expect(try events[1].data.after?.data(as: Message.self).text == "Changed")
    await app.app.delete()
  }

  @Test func `a batch notifies of each document, a refused one of none`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<String>()
    try app.registry.onDocumentCreated("f", document: "a/{id}") { log.add($0.subject) }
    await #expect(throws: (any Error).self) {
      try await app.commit(
        .update(Document(name: app.name("a/lost"))),
        .update(Document(name: app.name("a/no")), precondition: .exists(true)))
    }
    try await app.commit(.update(Document(name: app.name("a/1"))), .update(Document(name: app.name("a/2"))))
    await log.wait { $0.count == 2 }
    #expect(Set(log.entries) == ["a/1", "a/2"])
    await app.app.delete()
  }

  @Test func `users: created and deleted, without secrets`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<CloudEvent<EventUser>>()
    try app.registry.onUserCreated("created") { log.add($0) }
    try app.registry.onUserDeleted("deleted") { log.add($0) }
    let admin = try app.app.container.require((any AuthAdminBackend).self)
    let user = try await admin.createUser(
      CreateUserRequest(email: "ada@example.com", displayName: "Ada"), context: app.owner)
    await log.wait { $0.count == 1 }
    try await admin.deleteUser(localID: user.localID, context: app.owner)
    await log.wait { $0.count == 2 }
    #expect(log.entries.map(\.data.uid) == [user.localID, user.localID])
    #expect(log.entries.map(\.data.email) == ["ada@example.com", "ada@example.com"])
    #expect(log.entries[0].data.displayName == "Ada")
    #expect(log.entries[0].data.creationTime != nil)
    await app.app.delete()
  }

  @Test func `objects: written, replaced, changed, deleted`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<String>()
    try app.registry.onObjectFinalized("f") { log.add("finalized \($0.subject) \($0.data.size)") }
    try app.registry.onObjectMetadataUpdated("m") { log.add("changed \($0.data.contentType ?? "")") }
    try app.registry.onObjectDeleted("d") { log.add("deleted \($0.data.size)") }
    let storage = try app.app.container.require((any StorageBackend).self)
    let object = ObjectName(bucket: "demo", name: "a/b")
    let none = Preconditions.none
    _ = try await storage.putObject(UploadRequest(object: object), content: [1, 2], context: app.owner)
    await log.wait { $0.count == 1 }
    _ = try await storage.putObject(UploadRequest(object: object), content: [1, 2, 3], context: app.owner)
    await log.wait { $0.count == 3 }
    var change = MetadataChange()
    change.contentType = .set("text/plain")
    _ = try await storage.updateObject(object, change: change, preconditions: none, context: app.owner)
    await log.wait { $0.count == 4 }
    try await storage.deleteObject(object, preconditions: none, context: app.owner)
    await log.wait { $0.count == 5 }
    #expect(log.entries[0] == "finalized a/b 2")
    #expect(Set(log.entries[1...2]) == ["deleted 2", "finalized a/b 3"])
    #expect(log.entries[3...] == ["changed text/plain", "deleted 3"])
    await app.app.delete()
  }

  @Test func `the tree: writes at, below and above a reference`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<String>()
    try app.registry.onValueWritten("f", ref: "rooms/{room}") { event in
      let kind = event.type.split(separator: ".").last ?? ""
      let (before, after) = (event.data.before?.value as? [String: Any], event.data.after?.value as? [String: Any])
      log.add("\(kind) \(event.params["room"] ?? "") \(before?["n"] ?? "-") \(after?["n"] ?? "-")")
    }
    let backend = try app.app.container.require((any DatabaseBackend).self)
    let connection = backend.connect(DatabaseConnectRequest(namespace: "demo")) { _ in }
    func put(_ path: DatabasePath, _ node: DatabaseNode, _ count: Int) async {
      connection.send(.put(path, node, hash: nil), id: count)
      await log.wait { $0.count == count }
    }
    func room(_ n: Int64) -> DatabaseNode { DatabaseNode(children: [("n", DatabaseNode(.int(n)))]) }
    await put("rooms/a", room(1), 1)
    await put("rooms/a/n", DatabaseNode(.int(2)), 2)
    connection.send(.put("elsewhere", room(0), hash: nil), id: 100)
    connection.send(.put("rooms/a/n", DatabaseNode(.int(2)), hash: nil), id: 101)
    await put("rooms", DatabaseNode(children: [("a", room(2)), ("b", room(3))]), 3)
    await put(.root, .empty, 5)
    #expect(log.entries[..<3] == ["created a - 1", "updated a 1 2", "created b - 3"])
    #expect(Set(log.entries[3...]) == ["deleted a 2 -", "deleted b 3 -"])
    await app.app.delete()
  }

  @Test func `templates: published`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<Int64>()
    try app.registry.onConfigUpdated("f") { log.add($0.data.versionNumber) }
    let admin = try app.app.container.require((any RemoteConfigAdminBackend).self)
    let template = ConfigTemplate(parameters: ["welcome": ConfigParameter(defaultValue: "Hello")])
    _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: app.owner)
    await log.wait { $0.count == 1 }
    #expect(log.entries == [1])
    await app.app.delete()
  }

  @Test
  func `an app that is deleted cancels its functions, and the next one delivers before the first use of the engine`()
    async throws
  {
    let name = UUID().uuidString
    let first = try EventApp(directory.path, name: name)
    let (log, ends) = (Log<String>(), Log<Bool>())
    try first.registry.onDocumentCreated("f", document: "a/{id}") { event in
      log.add(event.id)
      do {
        try await Gate().pass()
      } catch {
        ends.add(Task.isCancelled)
        throw error
      }
    }
    try await first.set("a/x", ["n": .integer(1)])
    await log.wait { $0.count == 1 }
    await first.app.delete()
    await ends.wait { $0.count == 1 }
    #expect(ends.entries == [true])

    let second = try EventApp(directory.path, name: name)
    let again = Log<String>()
    try second.registry.onDocumentCreated("f", document: "a/{id}") { again.add($0.id) }
    await again.wait { $0.count == 1 }
    #expect(again.entries == log.entries)
    await second.app.delete()
  }

  @Test func `calls for dead letters keep the caller's executor`() async throws {
    let app = try EventApp(directory.path)
    let registry = try app.registry
    try registry.onDocumentCreated("f", document: "a/{id}") { _ in }
    #expect(await ExecutorProbe.violations { try await registry.deadLetters(of: "f") } == [])
    #expect(await ExecutorProbe.violations { try await registry.deadLetters(of: "unknown") } == [])
    await app.app.delete()
  }

  @Test func `a function that changes documents sees its own changes as events`() async throws {
    let app = try EventApp(directory.path)
    let log = Log<Int>()
    try app.registry.onDocumentWritten("count", document: "a/{id}") { event in
      let count = event.data.after?.get("n") as? Int ?? 0
      log.add(count)
      if count < 5 { try await app.set("a/x", ["n": .integer(Int64(count) + 1)]) }
    }
    try await app.set("a/x", ["n": .integer(0)])
    await log.wait { $0.count == 6 }
    #expect(log.entries == [0, 1, 2, 3, 4, 5])
    await app.app.delete()
  }
}
