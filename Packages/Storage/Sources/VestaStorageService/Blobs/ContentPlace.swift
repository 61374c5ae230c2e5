import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// The place of the content of objects, and whether all processes of a store have the same.
enum ContentPlace: Sendable {
  /// A folder of the process, or the store itself where several processes may use it.
  case ownFolder(String)
  /// A folder that all processes have, as the options say.
  case sharedFolder(String)
  /// A blob store that the app brings, which sees to that itself.
  case provided(any BlobStore)

  func blobs(_ tuning: StorageServiceTuning) -> any BlobStore {
    switch self {
    case .ownFolder(let path): ChosenBlobs(folder: path, tuning: tuning)
    case .sharedFolder(let path): FileBlobStore(directory: path)
    case .provided(let blobs): blobs
    }
  }

  /// The place in words, for errors.
  var name: String {
    switch self {
    case .ownFolder(let path): "the folder \(path), or the store of several processes"
    case .sharedFolder(let path): "the folder \(path)"
    case .provided: "the blob store of the app"
    }
  }

  /// Refuses a place that other processes of the store do not have: they would list objects that they cannot read.
  ///
  /// The id of a shared folder is kept in the store, so that a process with another folder of the same path is refused.
  func check(_ store: any OrderedStore, _ clock: ServiceClock) async throws {
    switch self {
    case .provided, .ownFolder: return
    case .sharedFolder(let path):
      let own = try await FileBlobStore(directory: path).folderID(clock)
      let known = try await store.write { transaction -> [UInt8] in
        if let known = try await transaction.get(Keys.folder) { return known }
        try await transaction.put(own, for: Keys.folder)
        return own
      }.value
      guard known != own else { return }
      throw StorageServiceError(
        .failedPrecondition,
        """
        \(path) is not the folder that the content of this store's objects is in. Set \
        StorageServiceOptions.sharedContentFolder to the folder that all processes share.
        """)
    }
  }
}
