import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaTransportInterop

/// Clears the objects, buckets and uploads in parts of all projects, without events to functions.
///
/// An object that is stored meanwhile may stay, with its bucket.
struct StorageReset {
  let host: any EndpointHost

  private static let context = PartsBucket.context

  func run() async throws {
    for project in host.projects {
      let backend = try host.backend((any StorageBackend).self, project: project)
      let admin = try host.backend((any StorageAdminBackend).self, project: project)
      for bucket in try await admin.listBuckets(context: Self.context) {
        try await clear(bucket, backend)
        do {
          try await admin.deleteBucket(bucket, context: Self.context)
        } catch let error as StorageServiceError where error.code == .notFound || error.code == .failedPrecondition {}
      }
    }
  }

  private func clear(_ bucket: String, _ backend: any StorageBackend) async throws {
    var request = ListRequest(bucket: bucket)
    repeat {
      let page = try await backend.listObjects(request, context: Self.context)
      for object in page.items {
        if object.name.bucket == PartsBucket.name, let id = object.name.name.parts(at: "/", omittingEmpty: true).first {
          // One that is over is gone already.
          try? await backend.cancelUpload(UploadID(rawValue: String(id)), context: Self.context)
        }
        do {
          try await backend.deleteObject(object.name, preconditions: .none, context: Self.context)
        } catch let error as StorageServiceError where error.code == .notFound {}
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
  }
}
