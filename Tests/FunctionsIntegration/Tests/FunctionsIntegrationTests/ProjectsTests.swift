import Foundation
import Testing
import VestaAuthBackend
import VestaCore
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

/// Engines of many projects in one process.
@Suite struct ProjectsTests {
  private static let count = 100

  /// The engines of one project, and what it alone has.
  private struct Project {
    let number: Int
    let app: EventApp
    var id: String { "p\(number)" }
    var database: String { "projects/\(id)/databases/(default)" }
    let object = ObjectName(bucket: "same", name: "x")
    let context = CallContext.owner

    func backend<Backend: Sendable>(_ type: Backend.Type) throws -> Backend { try app.app.container.require(type) }

    func write() async throws {
      let document = Document(name: "\(database)/documents/a/same", fields: ["n": .integer(Int64(number))])
      _ = try await backend((any FirestoreBackend).self).commit(
        CommitRequest(database: database, writes: [.update(document)]), context: context)
      let content = [UInt8](repeating: UInt8(number), count: 100_000 + number)
      _ = try await backend((any StorageBackend).self).putObject(
        UploadRequest(object: object), content: content, context: context)
      _ = try await backend((any DatabaseBackend).self).write(
        DatabaseWriteRequest(namespace: "same", path: "a", .put(DatabaseNode(.int(Int64(number))))), context: context)
      _ = try await backend((any AuthAdminBackend).self).createUser(
        CreateUserRequest(email: "same@example.com", displayName: id), context: context)
      let template = ConfigTemplate(parameters: ["n": ConfigParameter(defaultValue: .value(id))])
      _ = try await backend((any RemoteConfigAdminBackend).self).publish(
        PublishRequest(template: template, precondition: .any), context: context)
    }

    func check() async throws {
      var numbers: [Value?] = []
      let query = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
      try await backend((any FirestoreBackend).self).runQuery(
        RunQueryRequest(parent: database + "/documents", query: query), context: context
      ) { response in
        if let document = response.document { numbers.append(document.fields["n"]) }
      }
      #expect(numbers == [.integer(Int64(number))])
      let download = try await backend((any StorageBackend).self).openObject(
        ReadRequest(object: object), context: context)
      #expect(download.object.size == Int64(100_000 + number))
      #expect(try await download.content.read(maximumLength: 3) == [UInt8](repeating: UInt8(number), count: 3))
      download.content.close()
      let read = try await backend((any DatabaseBackend).self).read(
        DatabaseReadRequest(namespace: "same", path: "a"), context: context)
      #expect(read.node == DatabaseNode(.int(Int64(number))))
      let users = try await backend((any AuthAdminBackend).self).batchGet(BatchGetRequest(), context: context)
      #expect(users.users.map(\.displayName) == [id])
      let admin = try backend((any RemoteConfigAdminBackend).self)
      let parameters = try await admin.template(namespace: "firebase", version: nil, context: context).template
        .parameters
      #expect(parameters["n"]?.defaultValue == .value(id))
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `a hundred projects at once see nothing of one another, and their engines close with their apps`() async throws {
    let directory = try TemporaryDirectory()
    let projects = try (0..<Self.count).map {
      Project(number: $0, app: try EventApp(directory.path, project: "p\($0)"))
    }
    for turn in 0..<2 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for project in projects { group.addTask { turn == 0 ? try await project.write() : try await project.check() } }
        try await group.waitForAll()
      }
    }
    for project in projects { await project.app.app.delete() }
    // The data is there when a project is named again, and is its own.
    for number in [0, 57, 99] {
      let again = Project(number: number, app: try EventApp(directory.path, project: "p\(number)"))
      try await again.check()
      await again.app.app.delete()
    }
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return target?.hasPrefix(directory.path) ?? false
    }
    #expect(open == [])
  }
}
