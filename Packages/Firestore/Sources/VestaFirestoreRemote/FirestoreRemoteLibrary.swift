public import VestaCore
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// Registers the document service of another machine: provides `any FirestoreBackend` where the app's backend is a
/// server, emulators or Firebase, and needs a transport.
///
/// It may be in one list with `FirestoreServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``FirestoreRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 8080))
/// try VestaApp.configure(
///   options: options, libraries: [FirestoreLibrary.self, FirestoreRemoteLibrary.self, TransportLibrary.self])
/// ```
public enum FirestoreRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-firestore-remote"

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote services of the app, and the one of its options.
  public static func components() -> [Component] {
    [
      Component(
        FirestoreRemotes.self, caching: .shared,
        dependencies: [
          .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
          .optional(FirestoreRemoteOptions.self),
        ]
      ) { try remotes(in: $0) },
      Component(
        (any FirestoreBackendSource).self, caching: .shared, dependencies: [.required(FirestoreRemotes.self)]
      ) { try $0.require(FirestoreRemotes.self) },
      Component((any FirestoreBackend).self, caching: .shared, dependencies: [.required(FirestoreRemotes.self)]) {
        let remotes = try $0.require(FirestoreRemotes.self)
        return try remotes.backend(at: remotes.origin)
      },
    ]
  }

  private static func remotes(in container: ComponentContainer) throws -> FirestoreRemotes {
    let backend = container.options.backend
    var options = try container.find(FirestoreRemoteOptions.self) ?? FirestoreRemoteOptions()
    if backend.kind == .firebase { options.sendsWriteIdentifiers = false }
    let origin = try backend.origin(of: "firestore", firebase: "https://firestore.googleapis.com")
    var service = try container.require(RemoteServices.self).service(
      at: origin, isEmulator: backend.kind == .emulators, sending: [.appID, .heartbeatMark])
    if !service.options.fields.contains("x-goog-api-client") {
      service.options.fields.append("x-goog-api-client", "gl-swift/ fire/\(version) grpc/\(version)")
    }
    return FirestoreRemotes(of: service, at: origin, options: options)
  }
}
