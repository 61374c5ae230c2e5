internal import VestaAppCheckInterop
internal import VestaAuthInterop
public import VestaCore
internal import VestaCryptoInterop
internal import VestaFirestoreBackend
internal import VestaFirestoreSync
internal import VestaStoreInterop

/// The library that makes Firestore a part of an app.
///
/// It needs a `FirestoreBackend`: the embedded engine, or a remote one. With a store in the app, pending writes and
/// the cache of a remote backend survive a restart. Auth and App Check are used where they are in the app.
///
/// ```swift
/// try VestaApp.configure(libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
/// let db = Firestore.firestore()
/// ```
public enum FirestoreLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-firestore"

  /// The version of the package.
  public static let version = VestaVersion()

  private static let backendLibraries = """
    FirestoreServiceLibrary of VestaFirestoreService (the embedded engine; Packages/Firestore), which \
    needs a store too, such as SQLiteLibrary of VestaSQLite (Packages/SQLite), or FirestoreRemoteLibrary \
    of VestaFirestoreRemote (a server, emulators or Firebase; Packages/Firestore) with TransportLibrary \
    of VestaTransport (Packages/Transport)
    """

  /// The databases of an app.
  public static func components() -> [Component] {
    [
      Component(
        FirestoreProvider.self,
        dependencies: [
          .required((any FirestoreBackend).self, providedBy: backendLibraries),
          .optional((any FirestoreBackendSource).self),
          .optional((any AuthInterop).self),
          .optional((any AppCheckInterop).self),
          .optional((any CryptoProvider).self),
          .optional((any NetworkMonitor).self),
          .optional((any StoreProvider).self),
          .optional(SyncTuning.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return FirestoreProvider(source: try AppClientSource(container))
      }
    ]
  }
}
