import Dispatch
import Foundation
import Testing
import VestaAuth
import VestaAuthRemote
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaDatabase
import VestaDatabaseRemote
import VestaDatabaseService
import VestaFirestore
import VestaFirestoreRemote
import VestaFirestoreService
import VestaFunctions
import VestaFunctionsRemote
import VestaFunctionsService
import VestaInstallationsRemote
import VestaMessaging
import VestaMessagingRemote
import VestaMessagingService
import VestaRemoteConfig
import VestaRemoteConfigRemote
import VestaRemoteConfigService
import VestaSQLite
import VestaStorage
import VestaStorageRemote
import VestaStorageService
import VestaTesting
import VestaTransport

/// The sentences for programs that lack something, or that name a place where nothing is sent.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FirstContactTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory("first-contact") }

  private static let clients: [any Library.Type] = [
    AuthLibrary.self, FirestoreLibrary.self, DatabaseLibrary.self, StorageLibrary.self, RemoteConfigLibrary.self,
    MessagingLibrary.self, FunctionsLibrary.self,
  ]
  private static let others: [any Library.Type] = [
    AuthServiceLibrary.self, FirestoreServiceLibrary.self, DatabaseServiceLibrary.self, StorageServiceLibrary.self,
    RemoteConfigServiceLibrary.self, MessagingServiceLibrary.self, FunctionsServiceLibrary.self, SQLiteLibrary.self,
    CryptoLibrary.self, AuthRemoteLibrary.self, FirestoreRemoteLibrary.self, DatabaseRemoteLibrary.self,
    StorageRemoteLibrary.self, RemoteConfigRemoteLibrary.self, MessagingRemoteLibrary.self,
    InstallationsRemoteLibrary.self, FunctionsRemoteLibrary.self, TransportLibrary.self,
  ]

  private func configure(_ libraries: [any Library.Type], _ backend: VestaOptions.Backend) throws -> VestaApp {
    let options = VestaOptions(projectID: "first-\(UUID().uuidString)", backend: backend)
    options.callbackQueue = DispatchQueue(label: "callbacks")
    return try VestaApp.configure(name: "first-\(UUID().uuidString)", options: options, libraries: libraries)
  }

  /// The list that an error proposes, as libraries.
  private func proposal(_ error: VestaError) throws -> [any Library.Type] {
    let start = try #require(error.message.range(of: "libraries: ["))
    let end = try #require(error.message.range(of: "]", range: start.upperBound..<error.message.endIndex))
    return try error.message[start.upperBound..<end.lowerBound].components(separatedBy: ", ").map { name in
      try #require((Self.clients + Self.others).first { "\($0).self" == name })
    }
  }

  private static let backends: [VestaOptions.Backend] = [.emulator(host: "localhost", port: 1), .firebase]

  @Test func `the list that configure proposes for a client alone is complete`() async throws {
    for backend in Self.backends + [.embedded(directory: URL(filePath: directory.path))] {
      for client in Self.clients {
        let error = try #require(throws: VestaError.self) { try configure([client], backend) }
        await (try configure(try proposal(error), backend)).delete()
      }
    }
  }

  @Test func `one round names what all clients lack`() async throws {
    for backend in Self.backends + [.embedded(directory: URL(filePath: directory.path))] {
      let error = try #require(throws: VestaError.self) { try configure(Self.clients, backend) }
      #expect(error.message.contains(#".product(name: "VestaFirestore"#))
      await (try configure(try proposal(error), backend)).delete()
    }
  }

  private final class Sink: LogSink {
    let entries = Locked<[LogEntry]>([])
    func write(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }
  }

  @Test func `useEmulator of an embedded app says what to do`() async throws {
    let app = try configure(Self.clients + Self.others, .embedded(directory: URL(filePath: directory.path)))
    let sink = Sink()
    VestaConfiguration.shared.setLogSink(sink)
    defer { VestaConfiguration.shared.setLogSink(StandardErrorSink()) }
    Storage.storage(app: app).useEmulator(withHost: "localhost", port: 9199)
    Functions.functions(app: app).useEmulator(withHost: "localhost", port: 5001)
    try Database.instance(for: app).useEmulator(withHost: "localhost", port: 9000)
    for (code, address) in [
      ("I-STR000011", "localhost:9199"), ("I-FUN000002", "http://localhost:5001"),
      ("I-RDB000023", "http://localhost:9000"),
    ] {
      let entry = try #require(sink.entries.withLock { $0.first { $0.code == code } })
      #expect(entry.level == .warning)
      #expect(entry.message.hasPrefix("useEmulator names \(address), but the backend of the app is \"embedded\""))
      #expect(entry.message.contains("VestaOptions.backend = .emulator(host:port:)"))
    }
    await app.delete()
  }

  @Test func `the bucket of an app without one is its project's, on a server as in the process`() async throws {
    for backend in [Self.backends[0], .embedded(directory: URL(filePath: directory.path))] {
      let app = try configure(Self.clients + Self.others, backend)
      let project = try #require(app.options.projectID)
      #expect(Storage.storage(app: app).reference().bucket == "\(project).appspot.com")
      await app.delete()
      try? FileManager.default.removeItem(at: app.dataDirectory.deletingLastPathComponent())
    }
  }
}
