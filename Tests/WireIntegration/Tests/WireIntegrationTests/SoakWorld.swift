import Dispatch
import Foundation
import VestaAuth
import VestaAuthRemote
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaDatabase
import VestaDatabaseRemote
import VestaFirestore
import VestaFirestoreRemote
import VestaInstallationsRemote
import VestaMessaging
import VestaMessagingRemote
import VestaRemoteConfig
import VestaRemoteConfigRemote
import VestaSQLite
import VestaServer
import VestaServiceInterop
import VestaStorage
import VestaStorageRemote
import VestaTransport
import VestaTransportInteropFakes

/// The program `vesta` in this process, and programs that reach it over a faulty network or directly.
struct SoakWorld {
  let server: VestaServer
  let network: FaultyNetwork
  let port: Int
  let project: String

  init() async throws {
    project = "soak-\(UUID().uuidString.prefix(8).lowercased())"
    // Every port is chosen by the system, so that nothing is in the way.
    let ports = Dictionary(uniqueKeysWithValues: ServerSettings.usualPorts.keys.map { ($0, 0) })
    server = try await VestaServer.start(ServerSettings(project: project, hosts: ["127.0.0.1"], ports: ports))
    port = server.port(of: ServerSettings.shared) ?? 0
    network = try FaultyNetwork(to: port)
  }

  /// A program with all products.
  ///
  /// - Parameters:
  ///   - port: The port that it reaches the server by; that of the network unless given.
  ///   - name: The name of its app.
  ///   - project: Its project; that of the server unless given.
  func app(at port: Int? = nil, name: String = UUID().uuidString, project: String? = nil) throws -> VestaApp {
    let options = VestaOptions(
      projectID: project ?? self.project, backend: .emulator(host: "127.0.0.1", port: port ?? network.port))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    options.storageBucket = "\(project ?? self.project).appspot.com"
    return try VestaApp.configure(
      name: name, options: options,
      libraries: [
        AuthLibrary.self, AuthRemoteLibrary.self, DatabaseLibrary.self, DatabaseRemoteLibrary.self,
        FirestoreLibrary.self, FirestoreRemoteLibrary.self, InstallationsRemoteLibrary.self, MessagingLibrary.self,
        MessagingRemoteLibrary.self, StorageLibrary.self, StorageRemoteLibrary.self, SQLiteLibrary.self,
        RemoteConfigLibrary.self, RemoteConfigRemoteLibrary.self, TransportLibrary.self,
      ])
  }

  func stop() async {
    network.close()
    await server.stop()
  }
}

extension VestaApp {
  /// Deletes the app, and what it has kept.
  func erase() async {
    let directory = dataDirectory
    _ = await delete()
    try? FileManager.default.removeItem(at: directory)
  }
}
