import VestaCore
import VestaStorageBackend
import VestaStoreInterop

/// Removes what crashes have left behind.
struct Sweep: Sendable {
  let store: any OrderedStore
  let blobs: any BlobStore
  /// The engine.
  let owner: String
  let now: Int64

  /// Removes expired upload sessions and the blobs that are noted as garbage; done when the store is opened.
  ///
  /// One that cannot be removed, or read, does not keep the others.
  func removeLeftovers() async {
    do {
      try await expireUploads()
      try await removeGarbage()
    } catch {
      report(error)
    }
  }

  private func report(_ error: any Error) {
    log.warning(
      "I-STS000001", "Files that crashes have left could not be removed; the next start tries again: \(error)")
  }

  private func expireUploads() async throws {
    var expired: [[UInt8]] = []
    for entry in try await store.read({ try await $0.entries(in: Keys.uploads) }) {
      do {
        if isExpired(try record(entry), at: now) { expired.append(entry.key) }
      } catch {
        report(error)
      }
    }
    for key in expired {
      do {
        try await expire(key)
      } catch {
        report(error)
      }
    }
  }

  /// A clock of this process that is ahead expires nothing: the store's version is a time, too.
  private func expire(_ key: [UInt8]) async throws {
    try await store.write { transaction in
      guard let value = try await transaction.get(key) else { return }
      let upload = try UploadRecord.row(value, of: "an upload")
      if store.isShared {
        guard isExpired(upload, at: try await transaction.commitVersion().microseconds) else { return }
      }
      try await transaction.delete(key)
      if upload.state == .active, let blob = upload.blobID { try await transaction.put([], for: Keys.garbage(blob)) }
    }
  }

  /// Whether an upload is abandoned: its time has passed, or it could be continued only by the process
  /// that has begun it, which has ended.
  private func isExpired(_ upload: UploadRecord, at now: Int64) -> Bool {
    upload.expires <= now
      || (upload.isShortLived && upload.state == .active && upload.owner != owner && !store.isShared)
  }

  private func removeGarbage() async throws {
    var removed: [[UInt8]] = []
    for key in try await store.read({ try await $0.entries(in: Keys.allGarbage).map(\.key) }) {
      do {
        if let blob = try Keys.garbageID(key) { try await blobs.remove(blob) }
        removed.append(key)
      } catch {
        report(error)
      }
    }
    let keys = removed
    guard !keys.isEmpty else { return }
    try await store.write { transaction in for key in keys { try await transaction.delete(key) } }
  }

  /// Removes every blob that no row knows.
  ///
  /// - Returns: How many were removed.
  func removeOrphans() async throws -> Int {
    // The files first: a blob that is made in between has its row before its file.
    let files = try await blobs.list()
    let known = try await store.read { try await knownBlobs($0) }
    let orphans = files.filter { !known.contains($0) }
    for orphan in orphans { try await blobs.remove(orphan) }
    return orphans.count
  }

  /// The blobs of all uploads that are active, and of all objects.
  private func knownBlobs(_ reader: any StoreReader) async throws -> Set<BlobID> {
    var known: Set<BlobID> = []
    for entry in try await reader.entries(in: Keys.uploads) {
      let upload = try record(entry)
      if upload.state == .active, let blob = upload.blobID { known.insert(blob) }
    }
    _ = try await reader.scan(Keys.objects, order: .ascending, limit: nil) { _, value in
      let object = try ObjectRecord.row(value.bytes, of: "an object")
      if !object.isInline, let blob = object.blobID { known.insert(blob) }
      return .next
    }
    return known
  }

  private func record(_ entry: StoreEntry) throws -> UploadRecord {
    try UploadRecord.row(entry.value, of: "an upload")
  }
}

private let log = Logger(service: "VestaStorageService")
