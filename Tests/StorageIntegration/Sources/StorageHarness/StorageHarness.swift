import Foundation
import VestaConcurrency
@_spi(VestaTesting) public import VestaCore
import VestaCrypto
import VestaSQLite
public import VestaStorage
public import VestaStorageBackend
import VestaStorageBackendFakes
import VestaStorageEndpoints
import VestaStorageRemote
public import VestaStorageService
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// An app with Storage on SQLite and files, in a directory.
public struct StorageHarness: Sendable {
  /// The app.
  public let app: VestaApp

  /// Its storage.
  public let storage: Storage

  /// Its engine; a remote backend in front of it with `VESTA_BACKEND=wire`.
  public let backend: any StorageBackend

  /// The engine itself, for tests of more than Firebase's protocol has a place for.
  public let engine: any StorageBackend

  /// Configures an app with a separate name.
  ///
  /// - Parameters:
  ///   - directory: Where its data is; each app has a separate folder in it.
  ///   - name: The name of the app; a separate one unless it is given.
  ///   - checkpointInterval: See `StorageServiceOptions`.
  ///   - inlineLimit: See `StorageServiceOptions`.
  public init(
    directory: String, name: String? = nil, checkpointInterval: Int64 = 256 * 1024, inlineLimit: Int = 16 * 1024
  ) throws {
    var service = StorageServiceOptions()
    service.checkpointInterval = checkpointInterval
    service.inlineLimit = inlineLimit
    try self.init(directory: directory, name: name, service: service)
  }

  /// Configures an app with options of the service.
  ///
  /// - Parameters:
  ///   - directory: Where its data is; all apps have the same project.
  ///   - name: The name of the app; a separate one unless it is given.
  ///   - service: The options of the service.
  public init(directory: String, name: String? = nil, service: StorageServiceOptions) throws {
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    options.projectID = "storage-test"
    options.storageBucket = "test-bucket"
    options.backend = .embedded(directory: URL(fileURLWithPath: directory))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    app = try Self.options.with(service) {
      try VestaApp.configure(
        name: name ?? "s\(Self.number.withLock { $0 += 1; return $0 })", options: options,
        libraries: [
          StorageLibrary.self, StorageServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self, TestOptions.self,
        ])
    }
    engine = try app.container.require((any StorageBackend).self)
    backend = try Self.backend(over: engine, of: app)
    storage = try Storage.instance(for: app)
  }

  /// The engine, or a remote backend in front of it, as the environment says.
  private static func backend(over engine: any StorageBackend, of app: VestaApp) throws -> any StorageBackend {
    guard TestBackend.current == .wire else { return engine }
    let host = FakeEndpointHost(project: "storage-test")
    host.add((any StorageBackend).self, engine)
    let remote: any StorageBackend = StorageRemote(
      on: try host.service(of: StorageEndpoints(), options: RESTOptions()))
    app.container.override((any StorageBackend).self, with: remote)
    return remote
  }

  private static let number = Locked(Int(getpid()) * 1000)
  fileprivate static let options = ChosenOptions()
}

/// Hands options to the app that is being configured.
private final class ChosenOptions: Sendable {
  private let turn = CriticalSection()
  private let value = Locked(StorageServiceOptions())

  var current: StorageServiceOptions { value.withLock { $0 } }

  func with(_ options: StorageServiceOptions, _ body: () throws -> VestaApp) throws -> VestaApp {
    try turn.execute {
      value.withLock { $0 = options }
      let app = try body()
      // Resolved here, so that the next app's options are not taken for this one's.
      _ = app.container.resolve(StorageServiceOptions.self)
      return app
    }
  }
}

private enum TestOptions: Library {
  static let name = "storage-test-options"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component(StorageServiceOptions.self) { _, isCacheable in
        isCacheable = true
        return StorageHarness.options.current
      }
    ]
  }
}
