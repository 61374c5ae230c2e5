import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaStorageBackend

/// Exports to buckets and imports from them, in the files that production writes.
///
/// The work is done when the call returns. Files are gathered in a folder of this machine.
extension FirestoreAdministration {
  func exportDocuments(
    _ request: TransferRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let start = clock.now()
    try request.check()
    guard try await backend.databases(context: context).contains(request.name) else {
      throw ServiceStatus(.notFound, "There is no database \(request.name.prefix(200)).")
    }
    var target = try BucketFolder(request.folder)
    if target.path.isEmpty {
      target = BucketFolder(bucket: target.bucket, path: "\(clock.milliseconds())_\(DocumentIDs.random().prefix(5))")
    }
    let storage = try storage(of: target.bucket)
    var metadata = request.metadata(from: target.uri, since: start)
    metadata.documents = try await withFolder { folder in
      let files = ExportFiles(database: request.name, collections: Set(request.collectionIDs), tuning: tuning)
      let written = try await files.write(named: target.name, to: folder, from: backend, clock)
      try await target.upload(folder, to: storage, context)
      return Int64(written)
    }
    metadata.endTime = Timestamp(microseconds: max(start, clock.now()))
    return try done(
      in: request.name,
      AnyMessage("google.firestore.admin.v1.ExportDocumentsMetadata", metadata, ExportDocumentsMetadataWire.self),
      AnyMessage("google.firestore.admin.v1.ExportDocumentsResponse", target.uri, ExportDocumentsResponseWire.self))
  }

  func importDocuments(
    _ request: TransferRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let start = clock.now()
    try request.check()
    _ = try await backend.databases(context: context)
    let source = try BucketFolder(request.folder)
    let storage = try storage(of: source.bucket)
    var metadata = request.metadata(from: source.uri, since: start)
    metadata.documents = try await withFolder { folder in
      try await source.download(to: folder, from: storage, context)
      let files = ExportFiles(database: request.name, collections: Set(request.collectionIDs), tuning: tuning)
      return Int64(try await files.read(ExportFiles.overview(in: folder), into: backend))
    }
    metadata.endTime = Timestamp(microseconds: max(start, clock.now()))
    return try done(
      in: request.name,
      AnyMessage("google.firestore.admin.v1.ImportDocumentsMetadata", metadata, ImportDocumentsMetadataWire.self),
      AnyMessage("google.protobuf.Empty", EmptyWire.empty, EmptyWire.self))
  }

  /// Makes a folder for a transfer, and removes it after that.
  private func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vesta-transfer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path(percentEncoded: false))
  }
}

extension TransferRequest {
  /// Refuses what neither the engine nor its files have.
  fileprivate func check() throws(ServiceStatus) {
    guard namespaceIDs.allSatisfy(\.isEmpty), snapshotTime == nil else {
      throw ServiceStatus(
        .unimplemented, "Only the current version of all namespaces is exported: leave out namespaces and times.")
    }
  }

  fileprivate func metadata(from folder: String, since start: Int64) -> TransferMetadata {
    var metadata = TransferMetadata()
    (metadata.startTime, metadata.state) = (Timestamp(microseconds: start), .successful)
    (metadata.collectionIDs, metadata.folder) = (collectionIDs, folder)
    return metadata
  }
}
