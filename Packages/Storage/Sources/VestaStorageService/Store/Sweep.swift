import VestaCore
import VestaStorageBackend
import VestaStoreInterop

/// Removes what crashes have left behind.
struct Sweep: Sendable {
  let store: any OrderedStore
  let blobs: any BlobStore
  let now: Int64

  /// Removes expired upload sessions and the blobs that are noted as garbage; done when the store is opened.
  func removeLeftovers() async {
    do {
      try await expireUploads()
      try await removeGarbage()
    } catch {
      log.warning(
        "I-STS000001", "Files that crashes have left could not be removed; the next start tries again: \(error)")
    }
  }

  private func expireUploads() async throws {
    let now = now
    let expired = try await store.read { reader in
      try await reader.entries(in: Keys.uploads).filter { try record($0).expires <= now }.map(\.key)
    }
    for key in expired {
      try await store.write { transaction in
        guard let value = try await transaction.get(key) else { return }
        let upload = try StorageCall.decoded(UploadRecord.self, value, "an upload")
        try await transaction.delete(key)
        if upload.state == .active, let blob = upload.blobID { try await transaction.put([], for: Keys.garbage(blob)) }
      }
    }
  }

  private func removeGarbage() async throws {
    let keys = try await store.read { try await $0.entries(in: Keys.allGarbage).map(\.key) }
    for key in keys {
      if let blob = try Keys.garbageID(key) { try await blobs.remove(blob) }
    }
    guard !keys.isEmpty else { return }
    try await store.write { transaction in for key in keys { try await transaction.delete(key) } }
  }

  /// Removes every blob that no row knows.
  ///
  /// - Returns: How many were removed.
  func removeOrphans() async throws -> Int {
    // The files first: a blob that is made meanwhile has its row before its file.
    let files = try await blobs.list()
    let known = try await store.read { reader in
      var known: Set<BlobID> = []
      for entry in try await reader.entries(in: Keys.uploads) {
        let upload = try record(entry)
        if upload.state == .active, let blob = upload.blobID { known.insert(blob) }
      }
      _ = try await reader.scan(Keys.objects, order: .ascending, limit: nil) { _, value in
        let object = try StorageCall.decoded(ObjectRecord.self, value.bytes, "an object")
        if !object.isInline, let blob = object.blobID { known.insert(blob) }
        return .next
      }
      return known
    }
    let orphans = files.filter { !known.contains($0) }
    for orphan in orphans { try await blobs.remove(orphan) }
    return orphans.count
  }

  private func record(_ entry: StoreEntry) throws -> UploadRecord {
    try StorageCall.decoded(UploadRecord.self, entry.value, "an upload")
  }
}

private let log = Logger(service: "VestaStorageService")
