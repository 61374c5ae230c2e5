import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaDatabaseBackend
import VestaDatabaseService
import VestaMessagingBackend
import VestaMessagingService
@_spi(Benchmarking) import VestaPostgres
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageService
import VestaStoreInterop
import VestaTesting

extension OnOneServer {
  /// Says that the content of Storage is in a folder that all processes share.
  private enum SharedFolder: Library {
    static let name = "test-shared-folder"
    static let version = "1.0.0"

    static func components() -> [Component] {
      [
        Component(StorageServiceOptions.self) { _, _ in
          var options = StorageServiceOptions()
          options.sharedContentFolder = NSTemporaryDirectory() + "vesta-shared-\(UUID().uuidString)"
          return options
        }
      ]
    }
  }

  /// The round trips of the engines that an app resolves, with its stores in PostgreSQL.
  @Suite
  struct AppRoundTripTests {
    private let directory: TemporaryDirectory
    private let app: VestaApp
    private let owner = CallContext(caller: .owner)

    init() throws {
      directory = try TemporaryDirectory()
      let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
      options.projectID = "demo"
      options.storageBucket = "bucket"
      options.backend = .embedded(directory: URL(fileURLWithPath: directory.path))
      app = try VestaApp.configure(
        name: "trips\(UUID().uuidString.prefix(8))", options: options,
        libraries: [
          CountedStores.self, CryptoLibrary.self, DatabaseServiceLibrary.self, MessagingServiceLibrary.self,
          RemoteConfigServiceLibrary.self, SharedFolder.self, StorageServiceLibrary.self,
        ])
    }

    /// The counter of a store, which has been opened by a call before.
    private func count(_ store: String) throws -> RoundTripCount {
      RoundTripCount(try #require(CountedStores.store(store, below: directory.path)))
    }

    @Test func `the round trips of Storage equal the README's`() async throws {
      let engine = try app.container.require((any StorageBackend).self)
      func object(_ name: String) -> ObjectName { ObjectName(bucket: "bucket", name: name) }
      func put(_ name: String, _ byte: UInt8) async throws {
        _ = try await engine.putObject(UploadRequest(object: object(name)), content: [byte], context: owner)
      }
      for number in 0..<20 { try await put("list/\(number)", 1) }
      let count = try count("storage")
      try await count.call("put a new object") { try await put("new\($0)", 2) }
      try await count.call("replace an object") { try await put("list/1", UInt8($0)) }
      try await count.call("read an object's metadata") { _ in
        _ = try await engine.getObject(object("list/2"), preconditions: .none, context: owner)
      }
      try await count.call("open an object") { _ in
        _ = try await engine.openObject(ReadRequest(object: object("list/2")), context: owner)
      }
      try await count.call("list 20 objects") { _ in
        _ = try await engine.listObjects(ListRequest(bucket: "bucket", prefix: "list/"), context: owner)
      }
      try await count.call("change metadata") { number in
        var change = MetadataChange()
        change.contentType = .set("text/\(number)")
        _ = try await engine.updateObject(object("list/3"), change: change, preconditions: .none, context: owner)
      }
      try await count.call("delete an object") { number in
        try await engine.deleteObject(object("new\(number)"), preconditions: .none, context: owner)
      }
      var upload = UploadID(rawValue: "")
      try await count.call("start an upload") { number in
        upload = try await engine.startUpload(UploadRequest(object: object("large\(number)")), context: owner)
      }
      var offset: Int64 = 0
      try await count.call("append a chunk") { _ in
        let chunk = [UInt8](repeating: 7, count: 256 * 1024)
        _ = try await engine.appendToUpload(upload, offset: offset, bytes: chunk, context: owner)
        offset += Int64(chunk.count)
      }
      try await count.call("ask for the state of an upload") { _ in
        _ = try await engine.uploadStatus(upload, context: owner)
      }
      var uploads: [UploadID] = []
      for number in 0..<5 {
        let id = try await engine.startUpload(UploadRequest(object: object("whole\(number)")), context: owner)
        _ = try await engine.appendToUpload(id, offset: 0, bytes: [1, 2, 3], context: owner)
        uploads.append(id)
      }
      try await count.call("finish an upload") {
        _ = try await engine.finalizeUpload(uploads[$0], expected: ContentDigest(), context: owner)
      }
      await app.delete()
      expect(
        count,
        [
          "read an object's metadata": 1, "list 20 objects": 1, "ask for the state of an upload": 1,
          "open an object": 2, "put a new object": 2, "replace an object": 2, "change metadata": 2,
          "start an upload": 2, "delete an object": 3, "append a chunk": 0, "finish an upload": 5,
        ])
    }

    @Test func `the round trips of Remote Config equal the README's`() async throws {
      let engine = try app.container.require((any RemoteConfigBackend).self)
      let admin = try app.container.require((any RemoteConfigAdminBackend).self)
      func publish(_ value: Int) async throws {
        let template = ConfigTemplate(parameters: ["a": ConfigParameter(defaultValue: .value("\(value)"))])
        _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: owner)
      }
      func fetch() async throws {
        var instance = ConfigInstance()
        instance.appID = "1:1:ios:1"
        instance.installationID = "one"
        _ = try await engine.fetch(FetchConfigRequest(namespace: "firebase", instance: instance), context: owner)
      }
      for number in 0..<5 { try await publish(number) }
      try await fetch()
      let count = try count("remote-config")
      try await count.call("fetch, the template known") { _ in try await fetch() }
      try await count.call("publish") { try await publish(100 + $0) }
      try await count.call("read the template") { _ in
        _ = try await admin.template(namespace: "firebase", version: nil, context: owner)
      }
      try await count.call("read an old template") { _ in
        _ = try await admin.template(namespace: "firebase", version: 2, context: owner)
      }
      try await count.call("list the versions") { _ in
        _ = try await admin.listVersions(ListVersionsRequest(), context: owner)
      }
      try await count.call("roll back") { number in
        _ = try await admin.rollback(namespace: "firebase", to: Int64(1 + number % 2), user: nil, context: owner)
      }
      await app.delete()
      expect(
        count,
        [
          "fetch, the template known": 1, "list the versions": 2, "read the template": 2, "read an old template": 2,
          "publish": 4, "roll back": 5,
        ])
    }

    @Test func `the round trips of Messaging equal the README's`() async throws {
      let engine = try app.container.require((any MessagingBackend).self)
      let admin = try app.container.require((any MessagingAdminBackend).self)
      func register(_ installation: String, _ token: String? = nil) async throws -> String {
        let request = RegisterRequest(
          installationID: installation, platform: "ios", appID: "1:1:ios:1", currentToken: token)
        return try await engine.register(request, context: owner)
      }
      func send(_ target: PushMessage.Target) async throws -> String {
        try await admin.send(PushMessage(to: target, data: ["a": "b"]), isValidateOnly: false, context: owner)
      }
      let token = try await register("one")
      try await engine.subscribe(token: token, toTopic: "news", context: owner)
      let count = try count("messaging")
      try await count.call("register") { _ = try await register("more\($0)") }
      try await count.call("register again, nothing new") { _ in _ = try await register("one", token) }
      try await count.call("subscribe to a topic") {
        try await engine.subscribe(
          token: token, toTopic: "topic\($0)", context: owner)
      }
      try await count.call("leave a topic") {
        try await engine.unsubscribe(
          token: token, fromTopic: "topic\($0)", context: owner)
      }
      var names: [String] = []
      try await count.call("send to a registration") { _ in names.append(try await send(.token(token))) }
      try await count.call("acknowledge a message") { number in
        let id = String(names[number].split(separator: "/").last ?? "")
        try await engine.acknowledge(token: token, messageIDs: [id], context: owner)
      }
      try await count.call("send to a topic") { _ in _ = try await send(.topic("news")) }
      try await count.call("read a page of the outbox") { _ in
        _ = try await admin.outbox(pageSize: 100, pageToken: nil, context: owner)
      }
      await app.delete()
      expect(
        count,
        [
          "register": 3, "register again, nothing new": 2, "subscribe to a topic": 4, "leave a topic": 6,
          "send to a registration": 3, "send to a topic": 3, "acknowledge a message": 5, "read a page of the outbox": 2,
        ], beside: 2)
    }

    @Test func `the round trips of the Realtime Database equal the README's`() async throws {
      let client = DatabaseClient(try app.container.require((any DatabaseBackend).self))
      for number in 0..<50 {
        try await client.ask(.put(DatabasePath("list/\(number)"), DatabaseNode(.int(1)), hash: nil))
      }
      let count = try count("database")
      try await count.call("set a leaf") {
        try await client.ask(.put("leaf", DatabaseNode(.int(Int64($0))), hash: nil))
      }
      try await count.call("set a new leaf") {
        try await client.ask(.put(DatabasePath("leaf\($0)"), DatabaseNode(.int(1)), hash: nil))
      }
      try await count.call("update 3 paths") { number in
        let values = ["a", "b/c", "d"].map {
          DatabasePathValue(DatabasePath($0), DatabaseNode(.int(Int64(number))))
        }
        try await client.ask(.merge("many", values))
      }
      try await count.call("get a leaf") { _ in try await client.ask(.get("leaf", .all)) }
      try await count.call("get 50 children") { _ in try await client.ask(.get("list", .all)) }
      try await count.call("listen to 50 children") { _ in
        try await client.ask(.listen(DatabaseListen(path: "list")))
        try await client.ask(.unlisten("list", .all, tag: nil))
      }
      try await count.call("set an operation for the end") {
        try await client.ask(.onDisconnectPut(DatabasePath("here\($0)"), DatabaseNode(.bool(false))))
      }
      client.close()
      await app.delete()
      expect(
        count,
        [
          "get a leaf": 1, "get 50 children": 1, "listen to 50 children": 1, "set a leaf": 2,
          "set a new leaf": 3, "update 3 paths": 2, "set an operation for the end": 1,
        ])
    }

    /// Less than expected is right as well: a commit that is ready while another one runs joins it.
    ///
    /// - Parameter beside: The round trips that the engine itself may make at the same time: it reads the reports of
    ///   its own commits.
    private func expect(_ count: RoundTripCount, _ expected: [String: Int], beside: Int = 0) {
      #expect(Set(count.found.keys) == Set(expected.keys))
      for (name, trips) in expected { #expect(count.found[name] ?? .max <= trips + beside, "\(name)") }
    }
  }
}

/// Stores in PostgreSQL, which remember the last one of each name so that its round trips can be counted.
private enum CountedStores: Library {
  static let name = "counted-stores"
  static let version = "1.0.0"
  private static let opened = Locked([(name: String, directory: String, store: PostgresStore)]())

  static func components() -> [Component] {
    [
      Component((any StoreProvider).self) { _, isCacheable in
        isCacheable = true
        return Provider()
      }
    ]
  }

  /// The store that an app with its data in a folder has opened.
  static func store(_ name: String, below folder: String) -> PostgresStore? {
    opened.withLock { $0.first { $0.name == name && $0.directory.hasPrefix(folder) }?.store }
  }

  private struct Provider: StoreProvider {
    func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
      var postgres = PostgresOptions()
      postgres.url = server
      let store = try await PostgresStoreProvider(options: postgres)
        .openStore(named: name, in: directory, options: options)
      if let store = store as? PostgresStore { opened.withLock { $0.append((name, directory, store)) } }
      return store
    }
  }
}

/// A connection to the engine of the tree that is asked one thing after another.
private final class DatabaseClient: Sendable {
  private struct State {
    var waiting: [Int: CheckedContinuation<DatabaseReply, Never>] = [:]
    var last = 0
  }

  private let state: Locked<State>
  private let connection: any DatabaseConnection

  init(_ backend: any DatabaseBackend) {
    let state = Locked(State())
    self.state = state
    connection = backend.connect(DatabaseConnectRequest(namespace: "trips")) { message in
      guard case .reply(let id, let reply) = message else { return }
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: reply)
    }
  }

  func ask(_ request: DatabaseRequest) async throws {
    let reply = await withCheckedContinuation { continuation in
      let id = state.withLock { state in
        state.last += 1
        state.waiting[state.last] = continuation
        return state.last
      }
      connection.send(request, id: id)
    }
    #expect(reply.status == .ok)
  }

  func close() { connection.close() }
}
