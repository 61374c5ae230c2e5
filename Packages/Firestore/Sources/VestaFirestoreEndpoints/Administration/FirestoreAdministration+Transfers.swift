import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaStorageBackend
import VestaTransportInterop

/// Exports to buckets and imports from them, by files of this machine in between.
extension FirestoreAdministration {
  func exportDocuments(
    _ request: TransferRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let start = clock.now()
    guard request.snapshotTime == nil else {
      throw ServiceStatus(.unimplemented, "An export has the documents at the time of its call here.")
    }
    var (bucket, path) = try BucketFolder.parts(of: request.prefix)
    if path.isEmpty { path = "\(RFC3339.text(microseconds: start))_\(DocumentIDs.random().prefix(5))" }
    let (files, folder) = try await transfer(request, backend, context, bucket: bucket, path: path)
    let name = String(path.parts(at: "/", omittingEmpty: true).last ?? "export")
    let progress = try await Self.withTemporaryFolder { root in
      let progress = try await files.write(to: root, name: name, context: context, clock: clock)
      try await folder.upload(root, context: context)
      return progress
    }
    var response = ExportResponse()
    response.prefix = "gs://\(bucket)/\(path)"
    let metadata = metadata(of: request, prefix: response.prefix, since: start, progress)
    return try done(
      in: request.name,
      AnyMessage("google.firestore.admin.v1.ExportDocumentsMetadata", metadata, ExportMetadataWire.self),
      AnyMessage("google.firestore.admin.v1.ExportDocumentsResponse", response, ExportResponseWire.self))
  }

  func importDocuments(
    _ request: TransferRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext
  ) async throws -> AdminOperation {
    let start = clock.now()
    let (bucket, path) = try BucketFolder.parts(of: request.prefix)
    let (files, folder) = try await transfer(request, backend, context, bucket: bucket, path: path)
    let progress = try await Self.withTemporaryFolder { root in
      try await folder.download(to: root, context: context)
      guard let overview = try? DatabaseFiles.overview(in: root) else {
        throw ServiceStatus(.notFound, "There is no export at \(request.prefix.prefix(200)).")
      }
      return try await files.read(overview, context: context)
    }
    let metadata = metadata(of: request, prefix: request.prefix, since: start, progress)
    return try done(
      in: request.name,
      AnyMessage("google.firestore.admin.v1.ImportDocumentsMetadata", metadata, ImportMetadataWire.self),
      AnyMessage("google.protobuf.Empty", EmptyWire.empty, EmptyWire.self))
  }

  private func transfer(
    _ request: TransferRequest, _ backend: any FirestoreAdminBackend, _ context: CallContext, bucket: String,
    path: String
  ) async throws -> (DatabaseFiles, BucketFolder) {
    guard request.namespaceIDs.allSatisfy(\.isEmpty) else {
      throw ServiceStatus(.invalidArgument, "The documents of Firestore are in the default namespace.")
    }
    // Before a bucket is read.
    try await check(backend, context)
    let project = try AdminName.project(of: request.name)
    let storage = try host.backend((any StorageBackend).self, project: project)
    let files = DatabaseFiles(
      database: request.name, backend: backend, tuning: FirestoreExportTuning(),
      collections: Set(request.collectionIDs))
    return (files, BucketFolder(storage: storage, bucket: bucket, prefix: path.isEmpty ? "" : "\(path)/"))
  }

  private func metadata(
    of request: TransferRequest, prefix: String, since start: Int64, _ progress: DatabaseFiles.Progress
  ) -> TransferMetadata {
    var metadata = TransferMetadata()
    metadata.startTime = Timestamp(microseconds: start)
    metadata.endTime = Timestamp(microseconds: max(start, clock.now()))
    (metadata.state, metadata.prefix, metadata.collectionIDs) = (.successful, prefix, request.collectionIDs)
    (metadata.documents.estimated, metadata.documents.completed) = (
      Int64(progress.documents), Int64(progress.documents)
    )
    (metadata.bytes.estimated, metadata.bytes.completed) = (Int64(progress.bytes), Int64(progress.bytes))
    return metadata
  }

  private static func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-transfer-\(UUID().uuidString)").path
    // Other users of the machine read none of the documents.
    try FileManager.default.createDirectory(
      atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: root) }
    return try await body(root)
  }
}
