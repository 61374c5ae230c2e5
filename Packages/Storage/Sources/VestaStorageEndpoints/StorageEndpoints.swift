import VestaServiceInterop
import VestaStorageWire
public import VestaTransportInterop

/// The object service as a server offers it to Firebase's SDKs, and in Google's JSON to libraries of owners.
///
/// | route | answered by |
/// |---|---|
/// | `/v0/b/B/o`, `/v0/b/B/o/O` | Firebase's API: uploads in one request and in parts, downloads with ranges, metadata, lists, tokens |
/// | `/BUCKET/OBJECT` | the same in Google's XML: downloads, uploads and deletes, signed URLs |
/// | `/internal/setRules`, `/internal/reset`, `/internal/export` | for all projects, as test kits and the Firebase CLI set rules, clear everything and export it; in development alone |
/// | `/storage/v1/b/…`, `/b/…`, `/upload/storage/v1/…`, `/download/storage/v1/…` | the same in Google's form; copies, moves, compositions |
/// | `/batch/storage/v1` | up to 100 calls of Google's JSON without content |
///
/// It decides nothing about callers: the engine verifies what they sent, and asks its guard. Google's API is that of
/// owners: without a credential it is served by a server for development alone, and there as to the owner.
///
/// Lists in Google's form have bounds of names and patterns (`matchGlob`), which make pages shorter. Each object has
/// one generation: a call that names another one finds nothing, and `versions` adds nothing. A move is one
/// change, and so is a composition that deletes its sources. There are no access lists: a server for development
/// answers the calls as the emulator, where every caller reads the public URL of an object, and any other server
/// refuses them as Google for a bucket with uniform bucket-level access. The policy of a bucket can be read and not
/// changed.
///
/// Of Google's XML there are downloads, uploads, also in concurrent parts and by forms, and deletes of objects on the
/// port of Storage; where products share a port, by signed URLs alone. A server for development checks when such a URL
/// or the policy of a form expires, and what the policy allows, and no signature; others want a credential. A download
/// that is stored compressed is sent as it is stored, whatever the client accepts.
public struct StorageEndpoints: EndpointProvider {
  /// The name of the product.
  public let product = "storage"

  private let tuning: StorageEndpointsTuning

  /// Endpoints.
  ///
  /// - Parameter tuning: The figures at which the behaviour changes.
  public init(tuning: StorageEndpointsTuning = StorageEndpointsTuning()) { self.tuning = tuning }

  /// Whether a request has a route of the service.
  public func serves(_ head: HTTPRequestHead) -> Bool {
    if StorageSuiteCall(head.method, head.target) != nil { return true }
    let path = head.target.prefix { $0 != "?" }
    if (try? SignedURL(query: String(head.target.dropFirst(path.count + 1)))) != nil { return true }
    return [
      "/v0/b/", "/b/", "/storage/v1/b", "/upload/storage/v1/b", "/download/storage/v1/b", "/batch/storage/v1",
      "/resumable/upload/storage/v1/b",
    ].contains { path.hasPrefix($0) }
  }

  /// Makes the handler.
  public func handler(in host: any EndpointHost) -> any HTTPHandler {
    let exposed: [HTTPFieldName] = [
      "content-type", "content-length", "content-range", "etag", "x-firebase-storage-version",
      "x-goog-upload-size-received", "x-goog-upload-url", "x-goog-upload-command", "x-goog-upload-protocol",
      "x-goog-upload-status", "x-goog-upload-chunk-granularity", "x-goog-upload-control-url", "x-gupload-uploadid",
      "x-goog-generation", "x-goog-metageneration", "x-goog-hash",
    ]
    return CrossOriginHandler(
      rules: CrossOriginRules(exposedFields: exposed, allowsPrivateNetwork: true),
      StorageHandler(host: host, tuning: tuning))
  }
}

/// Serves requests, each in a task.
struct StorageHandler: HTTPHandler {
  let host: any EndpointHost
  let tuning: StorageEndpointsTuning

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .streamed }

  func reply(to request: HTTPRequest) -> HTTPReply {
    if let call = StorageSuiteCall(request.method, request.target) {
      return .task { [host, tuning] in await call.response(to: request, host, tuning) }
    }
    return .task { [host, tuning] in await StorageExchange.response(to: request, host, tuning) }
  }
}
