import Foundation
import VestaAppCheckInterop
import VestaAuthInterop
import VestaConcurrency
public import VestaCore
import VestaServiceInterop
import VestaStorageBackend

/// The library that registers Storage.
///
/// It needs a `StorageBackend`, and uses Auth and App Check where they are there.
///
/// ```swift
/// try VestaApp.configure(
///   options: options,
///   libraries: [StorageLibrary.self, StorageServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self])
/// ```
public enum StorageLibrary: Library {
  /// The name of the library.
  public static let name = "vesta-storage"

  /// The version of the library.
  public static let version = VestaVersion()

  /// The instances of `Storage`, one for each bucket.
  public static func components() -> [Component] {
    [
      Component(
        StorageInstances.self,
        dependencies: [
          .required((any StorageBackend).self, providedBy: backendLibraries),
          .optional((any AuthInterop).self),
          .optional((any AppCheckInterop).self),
          .optional(EmulatorConnection<any StorageBackend>.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        var caller = StorageCaller(
          backend: try container.require((any StorageBackend).self),
          auth: try container.find((any AuthInterop).self),
          appCheck: try container.find((any AppCheckInterop).self),
          clock: .system
        )
        caller.emulators = try container.find(EmulatorConnection<any StorageBackend>.self)
        return StorageInstances(caller)
      }
    ]
  }

  private static let backendLibraries = """
    StorageServiceLibrary of VestaStorageService (the embedded engine; Packages/Storage), which needs a \
    store and cryptography too, such as SQLiteLibrary of VestaSQLite (Packages/SQLite) and CryptoLibrary \
    of VestaCrypto (Packages/Crypto), or StorageRemoteLibrary of VestaStorageRemote (a server, emulators \
    or Firebase; Packages/Storage) with TransportLibrary of VestaTransport (Packages/Transport)
    """
}

/// The instances of an app, which end with it.
final class StorageInstances: ComponentLifecycleMaintainer {
  private let caller: StorageCaller
  private let table = InstanceTable<String, Storage>()
  /// One for all buckets, as an instance may reach the buckets of the others.
  private let books = Locked<(UploadSessionBook, DownloadBook)?>(nil)

  init(_ caller: StorageCaller) { self.caller = caller }

  func storage(of app: VestaApp, bucket: String) throws(VestaError) -> Storage {
    do {
      return try table.instance(for: bucket) {
        let (uploads, downloads) = books(of: app)
        return Storage(app: app, bucket: bucket, caller: caller, uploads: uploads, downloads: downloads)
      }
    } catch let error as VestaError {
      throw error
    } catch {
      throw VestaError(.creationFailed, "The Storage for \(bucket) could not be made.", underlying: error)
    }
  }

  private func books(of app: VestaApp) -> (UploadSessionBook, DownloadBook) {
    books.withLock { books in
      if let books { return books }
      let made = (
        UploadSessionBook(directory: app.dataDirectory.appending(path: "storage-uploads")),
        DownloadBook(directory: app.dataDirectory.appending(path: "storage-downloads"))
      )
      books = made
      return made
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    for storage in await table.removeAll() { await storage.close() }
  }
}
