import Foundation
import Testing
import VestaAuthBackend
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseService
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctionsService
import VestaMemoryStore
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageService
import VestaTesting

/// The events of every engine have the caller of the change, and a call may suppress them.
@Suite struct EventActorImplementations {
  enum Engine: String, CaseIterable, CustomTestStringConvertible {
    case documents = "firestore.googleapis.com"
    case objects = "storage.googleapis.com"
    case accounts = "firebaseauth.googleapis.com"
    case tree = "firebasedatabase.googleapis.com"
    case templates = "firebaseremoteconfig.googleapis.com"

    var testDescription: String { rawValue }

    /// Templates are for owners; others sign up by themselves, and are created by owners.
    var actors: [EventActor] {
      switch self {
      case .templates: [.owner("backup")]
      case .accounts: [.unauthenticated, .owner("backup")]
      case .documents, .objects, .tree: [.unauthenticated, .user("ada"), .owner("backup")]
      }
    }
  }

  @Test(arguments: Engine.allCases, EventActorContracts.all)
  func `an engine obeys a call that suppresses events, and says who has called`(
    engine: Engine, contract: Contract<EventActorSubject>
  ) async throws {
    let directory = try TemporaryDirectory()
    let app = try Self.app(in: directory)
    let container = app.container
    let sources = container.resolveAll((any EventSource).self)
    let source = try #require(sources.first { $0.service == engine.rawValue })
    let count = Locked(0)
    let pattern = engine == .tree ? try EventPattern("a/{id}") : nil
    let subject = EventActorSubject(source: source, actors: engine.actors, pattern: pattern) { actor, isSilent in
      let number = count.withLock {
        $0 += 1
        return $0
      }
      var context = Self.context(of: actor)
      context.suppressesEvents = isSilent
      try await Self.change(number, engine, container, context)
    }
    try await contract.verify(subject)
    await app.delete()
  }

  private static let database = "projects/demo/databases/(default)"

  /// An app with all engines; that of functions asks for their events.
  private static func app(in directory: TemporaryDirectory) throws -> VestaApp {
    try VestaApp.configure(
      name: "events-\(UUID().uuidString)",
      options: VestaOptions(projectID: "demo", backend: .embedded(directory: URL(filePath: directory.path))),
      libraries: [
        AuthServiceLibrary.self, KeptKeysLibrary.self, DatabaseServiceLibrary.self, FirestoreServiceLibrary.self,
        FunctionsServiceLibrary.self, MemoryStoreLibrary.self, RemoteConfigServiceLibrary.self,
        StorageServiceLibrary.self,
      ])
  }

  private static func context(of actor: EventActor) -> CallContext {
    switch actor.kind {
    case .unauthenticated, .system: CallContext()
    case .user: CallContext(caller: .user(VerifiedUser(uid: actor.id ?? "")))
    case .owner: CallContext(caller: .owner(Owner(name: actor.id ?? "")))
    }
  }

  /// Makes changes of all kinds that the engine has events of.
  private static func change(
    _ number: Int, _ engine: Engine, _ container: ComponentContainer, _ context: CallContext
  ) async throws {
    switch engine {
    case .documents:
      let backend = try container.require((any FirestoreBackend).self)
      let name = "\(database)/documents/a/\(number)"
      let writes: [Write] = [
        .update(Document(name: name)), .update(Document(name: name, fields: ["n": .integer(1)])), .delete(name),
      ]
      for write in writes {
        _ = try await backend.commit(CommitRequest(database: database, writes: [write]), context: context)
      }
      _ = try await backend.batchWrite(
        BatchWriteRequest(database: database, writes: [.update(Document(name: name))]), context: context)
    case .objects: try await change(objectsOf: try container.require((any StorageBackend).self), number, context)
    case .accounts:
      guard context.isOwner else {
        let backend = try container.require((any AuthBackend).self)
        _ = try await backend.signUp(
          SignUpRequest(email: "\(number)@example.com", password: "secret"), context: context)
        return
      }
      let admin = try container.require((any AuthAdminBackend).self)
      let user = try await admin.createUser(CreateUserRequest(), context: context)
      try await admin.deleteUser(localID: user.localID, context: context)
    case .tree:
      let backend = try container.require((any DatabaseBackend).self)
      let path = DatabasePath("a/\(number)")
      for node in [DatabaseNode(.int(1)), DatabaseNode(.int(2)), .empty] {
        _ = try await backend.write(
          DatabaseWriteRequest(namespace: "demo", path: path, .put(node)), context: context)
      }
    case .templates:
      let admin = try container.require((any RemoteConfigAdminBackend).self)
      let template = ConfigTemplate(parameters: ["n": ConfigParameter(defaultValue: .value("\(number)"))])
      _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: context)
    }
  }

  private static func change(
    objectsOf backend: any StorageBackend, _ number: Int, _ context: CallContext
  ) async throws {
    let object = ObjectName(bucket: "demo", name: "\(number)")
    _ = try await backend.putObject(UploadRequest(object: object), content: [1], context: context)
    let id = try await backend.startUpload(UploadRequest(object: object), context: context)
    _ = try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
    var change = MetadataChange()
    change.contentType = .set("text/plain")
    _ = try await backend.updateObject(object, change: change, preconditions: .none, context: context)
    try await backend.deleteObject(object, preconditions: .none, context: context)
  }
}
