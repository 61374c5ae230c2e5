import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// One request: its route, its caller and the backend of its project.
struct StorageExchange: Sendable {
  let request: HTTPRequest
  let route: StorageRoute
  let backend: any StorageBackend
  let context: CallContext
  let host: any EndpointHost
  let tuning: StorageEndpointsTuning

  /// The response to a request, also to one that fails.
  static func response(
    to request: HTTPRequest, _ host: any EndpointHost, _ tuning: StorageEndpointsTuning
  ) async -> HTTPResponse {
    let route: StorageRoute
    do {
      guard
        let found = try StorageRoute(
          method: request.method.name, target: request.target, field: { request.fields.first(named: $0) })
      else { return StorageFailure.unknown(request) }
      route = found
    } catch {
      return StorageFailure.malformed(request, error)
    }
    guard !route.names(PartsBucket.name) else {
      return StorageFailure.response(to: request, route, noBucket)
    }
    do {
      let project = host.project(of: route.bucket)
      let context = try context(of: request, route, project: project, host)
      let backend = try host.backend((any StorageBackend).self, project: project)
      // Suites of tests name buckets as they like, and the first upload makes them.
      if !host.isDevelopment {
        for bucket in route.usedBuckets {
          guard try await isThere(bucket, host) else {
            throw noBucket
          }
        }
      }
      let exchange = StorageExchange(
        request: request, route: route, backend: backend, context: context, host: host, tuning: tuning)
      return try await exchange.respond()
    } catch {
      return StorageFailure.response(to: request, route, error)
    }
  }

  static func context(
    of request: HTTPRequest, _ route: StorageRoute, project: String, _ host: any EndpointHost
  ) throws -> CallContext {
    var context = CallContext(request, project: project, clock: host.clock)
    if route.api != .firebase, case .nobody = context.caller {
      guard host.isDevelopment else {
        throw StorageServiceError(.unauthenticated, "Anonymous caller does not have access to this API.")
      }
      if route.api == .xml { try checkSignature(of: request, host) }
      context.caller = .owner
    }
    return context
  }

  /// Refuses a signed URL that is not valid now.
  ///
  /// In development the signer's key is not known: the signature is believed, as unsigned tokens are.
  private static func checkSignature(of request: HTTPRequest, _ host: any EndpointHost) throws {
    guard let query = request.query, let signed = try SignedURL(query: String(query)) else { return }
    guard signed.isValid(at: host.clock.seconds()) else {
      throw StorageServiceError(.invalidArgument, "The provided token has expired.")
    }
  }

  private func respond() async throws -> HTTPResponse {
    switch route.call {
    case .listBuckets:
      let prefix = parameter("prefix") ?? ""
      let names = try await buckets().filter { $0.utf8.starts(with: prefix.utf8) }
      return json(ListWire.buckets(names.map { ListWire.bucket($0, created: 0) }))
    case .createBucket:
      let name = try MetadataWire.upload(json: try await document()).name ?? ""
      guard name != PartsBucket.name else { throw Self.noBucket }
      try await admin(of: name).createBucket(name, context: context)
      return json(ListWire.bucket(name, created: host.clock.now()))
    case .deleteBucket(let name):
      try await admin(of: name).deleteBucket(name, context: context)
      return HTTPResponse(.noContent)
    case .bucket(let name):
      try await checkBucket(name)
      try checkBucketConditions()
      return json(ListWire.bucket(name, created: 0))
    case .list(let list): return try await self.list(list)
    case .get(let name): return try await get(name)
    case .download(let name, let token): return try await DownloadExchange(exchange: self).respond(name, token)
    case .update(let name): return try await update(name)
    case .delete(let name):
      try await checkGeneration(of: name)
      try await backend.deleteObject(name, preconditions: try await preconditions(of: name), context: context)
      return HTTPResponse(.noContent)
    case .addToken(let name): return try await changeTokens(of: name, .add)
    case .revokeToken(let name, let token): return try await changeTokens(of: name, .revoke(token))
    case .replace(let name): return try await replace(name)
    case .copy(let source, let target, let isRewrite): return try await copy(source, target, isRewrite)
    case .move(let source, let name): return try await move(source, name)
    case .compose(let target): return try await compose(target)
    case .accessList(let name): return try await accessList(name)
    case .grant(let name): return try await grant(name)
    case .withdraw(let name): return try await withdraw(name)
    case .policy(let bucket): return try await policy(bucket)
    case .permissions(let bucket, let names): return try await permissions(bucket, names)
    case .batch: return try await batch()
    case .form(let bucket): return try await FormExchange(exchange: self, bucket: bucket).respond()
    case .uploads(let bucket): return try await UploadListExchange(exchange: self, bucket: bucket).respond()
    case .parts(let name, let call): return try await PartsExchange(exchange: self, object: name).respond(call)
    case .cancelUpload(_, let id):
      try await backend.cancelUpload(UploadID(rawValue: id), context: context)
      return HTTPResponse(HTTPStatus(499))
    case .upload(let bucket, let name, let kind):
      return try await UploadExchange(exchange: self, bucket: bucket, name: name).respond(kind)
    }
  }

  /// The bucket of the project, which always exists, and all buckets with objects.
  private func buckets() async throws -> [String] {
    let usual = "\(host.defaultProject).appspot.com"
    let found = try await admin(of: nil).listBuckets(context: context).filter { $0 != PartsBucket.name }
    return found.contains(usual) ? found : [usual] + found
  }

  /// Refuses a bucket that was not made and has no objects; the buckets that each project has always exist.
  func checkBucket(_ name: String) async throws {
    let buckets = try await admin(of: name).listBuckets(context: context)
    guard buckets.contains(name) || host.knows(bucket: name) else {
      throw Self.noBucket
    }
  }

  /// Whether a bucket exists, also for callers who may not list buckets.
  private static func isThere(_ name: String, _ host: any EndpointHost) async throws -> Bool {
    if host.knows(bucket: name) { return true }
    let admin = try host.backend((any StorageAdminBackend).self, project: host.project(of: name))
    return try await admin.listBuckets(context: .owner).contains(name)
  }

  private static let noBucket = StorageServiceError(.notFound, "The specified bucket does not exist.")

  func admin(of bucket: String?) throws -> any StorageAdminBackend {
    try host.backend((any StorageAdminBackend).self, project: host.project(of: bucket))
  }

  // MARK: Parts of requests and responses

  static let text: String = "text/plain; charset=utf-8"
  static let jsonType = "application/json; charset=utf-8"

  func field(_ name: String) -> String? { request.fields.first(named: name) }

  /// The value of a parameter of the query; `nil` for an empty one.
  func parameter(_ name: String) -> String? {
    let fields = try? FormFields(request.query.map(String.init) ?? "")
    return fields?[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A body that is no content.
  func document() async throws -> [UInt8] {
    do {
      let bytes = try await request.body.collect(upTo: tuning.bodyLimit)
      // Go's clients write it for no body.
      return bytes == Array("null".utf8) || bytes == Array("null\n".utf8) ? [] : bytes
    } catch TransportError.Code.tooLarge {
      throw StorageServiceError(.invalidArgument, "The body has more than \(tuning.bodyLimit) bytes.")
    }
  }

  /// The origin that the client has reached: it follows links of objects.
  var origin: String { request.origin }

  /// The form of objects in responses.
  var form: ObjectWire.Form {
    route.api == .google ? .google : .firebase(hasDecimalChecksum: false)
  }

  func json(_ value: JSONObject) -> HTTPResponse { json((try? value.json()) ?? []) }

  func json(_ bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(.ok, fields: [.contentType: Self.jsonType], body: .bytes(bytes))
  }

  func object(_ object: StorageObject) -> HTTPResponse { json(ObjectWire.json(of: object, form: form, origin: origin)) }
}

extension EndpointHost {
  /// The project of a bucket: the configured one, then that of its default names, and otherwise that of the server.
  func project(of bucket: String?) -> String {
    if let known = bucket.flatMap(project(ofBucket:)) { return known }
    guard let bucket, let suffix = Self.projectSuffix(of: bucket) else { return defaultProject }
    return String(bucket.dropLast(suffix.count))
  }

  /// Whether a bucket is configured, or one that each project has.
  fileprivate func knows(bucket: String) -> Bool {
    Self.projectSuffix(of: bucket) != nil || project(ofBucket: bucket) != nil
  }

  /// The end of the name of a bucket that each project has; `nil` for another bucket.
  private static func projectSuffix(of bucket: String) -> String? {
    [".appspot.com", ".firebasestorage.app"].first { bucket.hasSuffix($0) && bucket.utf8.count > $0.utf8.count }
  }
}

extension HTTPFields {
  /// Fields with names that clients have written; other names are left out.
  init(named pairs: [(name: String, value: String)]) {
    self.init()
    for (name, value) in pairs { if let name = HTTPFieldName(name) { append(name, value) } }
  }

  /// The value of the first field of a name.
  fileprivate func first(named name: String) -> String? { HTTPFieldName(name).flatMap { first($0) } }
}

extension StorageRoute {
  /// The bucket of the call.
  var bucket: String? {
    switch call {
    case .listBuckets, .createBucket, .batch: nil
    case .bucket(let name), .deleteBucket(let name), .policy(let name), .permissions(let name, _),
      .form(let name), .uploads(let name):
      name
    case .list(let request): request.bucket
    case .get(let name), .download(let name, _), .update(let name), .delete(let name), .addToken(let name),
      .revokeToken(let name, _), .replace(let name), .copy(let name, _, _), .move(let name, _), .compose(let name),
      .accessList(let name), .grant(let name), .withdraw(let name), .parts(let name, _):
      name.bucket
    case .upload(let bucket, _, _), .cancelUpload(let bucket, _): bucket
    }
  }

  /// The buckets whose objects the call reads or changes.
  fileprivate var usedBuckets: [String] {
    switch call {
    // They say themselves whether there is the bucket.
    case .bucket, .deleteBucket: []
    case .copy(let source, let target, _), .parts(let target, .copy(_, _, from: let source)):
      [source.bucket, target.bucket]
    default: bucket.map { [$0] } ?? []
    }
  }

  /// Whether the call reads or changes a bucket.
  func names(_ wanted: String) -> Bool {
    bucket == wanted || usedBuckets.contains(wanted)
  }
}
