import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// The uploads in parts that are under way in a bucket, which owners may list.
struct UploadListExchange: Sendable {
  let exchange: StorageExchange
  let bucket: String

  func respond() async throws -> HTTPResponse {
    // Its refusal of another caller is that of all calls on buckets.
    _ = try await exchange.admin(of: bucket).listBuckets(context: exchange.context)
    let limit = exchange.parameter("max-uploads").flatMap { Int($0) } ?? 1_000
    let request = PartsWire.UploadsRequest(
      bucket: bucket, prefix: exchange.parameter("prefix") ?? "", delimiter: exchange.parameter("delimiter"),
      keyMarker: exchange.parameter("key-marker") ?? "", idMarker: exchange.parameter("upload-id-marker") ?? "",
      limit: min(max(limit, 1), 1_000), encodesNames: exchange.parameter("encoding-type") == "url")
    let bytes = PartsWire.list(try await uploads(), by: request)
    return HTTPResponse(.ok, fields: [.contentType: StorageErrorWire.xmlType], body: .bytes(bytes))
  }

  private func uploads() async throws -> [PartsWire.Upload] {
    var found: [PartsWire.Upload] = []
    // A page has the ids of a thousand uploads, of all buckets.
    var request = ListRequest(bucket: PartsBucket.name, delimiter: "/")
    repeat {
      let page = try await exchange.backend.listObjects(request, context: PartsBucket.context)
      for prefix in page.prefixes {
        if let upload = try await upload(String(prefix.dropLast())) { found.append(upload) }
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    return found
  }

  /// An upload of the bucket that is under way.
  private func upload(_ id: String) async throws -> PartsWire.Upload? {
    do {
      let found = try await exchange.backend.getObject(
        PartsBucket.note(of: id), preconditions: .none, context: PartsBucket.context)
      guard found.metadata.custom["bucket"] == bucket, let key = found.metadata.custom["key"] else { return nil }
      guard await !PartsBucket.isUploadOver(id, in: exchange.backend) else { return nil }
      return PartsWire.Upload(key: key, id: id, start: found.timeCreated)
    } catch let error as StorageServiceError where error.code == .notFound {
      return nil
    }
  }
}
