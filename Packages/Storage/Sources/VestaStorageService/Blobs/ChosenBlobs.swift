import VestaConcurrency
import VestaStorageBackend
import VestaStoreInterop

/// The content of an engine, whose place follows from its store: files of the process, or pieces in a store that
/// several processes may use.
final class ChosenBlobs: BlobStore {
  private let folder: String
  private let tuning: StorageServiceTuning
  private let chosen = Locked<(any BlobStore)?>(nil)

  /// - Parameters:
  ///   - folder: The folder of the files.
  ///   - tuning: The lengths of pieces.
  init(folder: String, tuning: StorageServiceTuning) {
    self.folder = folder
    self.tuning = tuning
  }

  /// Chooses by the store, when it is open and before anything else is asked.
  func choose(by store: any OrderedStore) {
    let blobs: any BlobStore =
      store.isShared ? StoreBlobStore(store, tuning: tuning) : FileBlobStore(directory: folder)
    chosen.withLock { $0 = blobs }
  }

  private func blobs() throws(BlobError) -> any BlobStore {
    guard let blobs = chosen.withLock({ $0 }) else { throw BlobError(.closed, "The store of Storage is not open.") }
    return blobs
  }

  func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
    try await blobs().write(id, keeping: size)
  }

  func read(_ id: BlobID) async throws -> any BlobReader { try await blobs().read(id) }

  func readUnsealed(_ id: BlobID) async throws -> any BlobReader { try await blobs().readUnsealed(id) }

  func remove(_ id: BlobID) async throws { try await blobs().remove(id) }

  func list() async throws -> [BlobID] { try await blobs().list() }

  func close() async { await chosen.withLock({ $0 })?.close() }

  func keepRoom(_ bytes: Int) async { await chosen.withLock({ $0 })?.keepRoom(bytes) }

  func makeRoom() async -> Bool { await chosen.withLock({ $0 })?.makeRoom() ?? false }

  func freeBytes() async -> Int64? { await chosen.withLock({ $0 })?.freeBytes() }
}
