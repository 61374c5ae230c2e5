import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// One request of the REST API: its call, its caller and the backend of its project.
struct DatabaseExchange: Sendable {
  let call: DatabaseRESTCall
  let place: DatabasePlace
  let context: CallContext
  let backend: any DatabaseBackend
  let host: any EndpointHost
  let links: OpenLinks
  let tuning: DatabaseEndpointsTuning
  private let body: [UInt8]

  /// - Throws: `NOT_FOUND` for a path that is not the API's; `BytesError` for parameters that are malformed.
  init(
    _ request: RESTRequest, _ host: any EndpointHost, _ links: OpenLinks, _ tuning: DatabaseEndpointsTuning
  ) throws {
    let http = request.http
    let method = http.method == .head ? "GET" : http.method.name
    guard
      let call = try DatabaseRESTWire.call(
        method: method, target: http.target, field: { name in HTTPFieldName(name).flatMap { http.fields.first($0) } })
    else { throw ServiceStatus(.notFound, "404 Not Found: a path of the REST API ends with .json.") }
    self.call = call
    place = try DatabasePlace(call.namespace, at: http.authority, in: host)
    var context = CallContext(http, project: place.project, clock: host.clock)
    switch call.credential {
    // An ID token is a bearer token, too, and an old secret is no ID token.
    case .auth(let token)?, .bearer(let token)?: context.caller = .credential(.bearer(token))
    case nil: break
    }
    if let timeout = call.timeout { context = context.limited(to: .milliseconds(timeout), by: host.clock) }
    if call.disablesTriggers { context.suppressesEvents = true }
    self.context = context
    backend = try host.backend((any DatabaseBackend).self, project: place.project)
    (self.host, self.links, self.tuning, body) = (host, links, tuning, request.body)
  }

  func response() async throws -> HTTPResponse {
    do {
      switch call.action {
      case .get where call.wantsEvents: return try await EventResponse(self).open()
      case .get: return try await read()
      case .put: return try await put(try node())
      case .delete: return try await put(.empty)
      case .patch: return try await patch()
      case .post: return try await append()
      }
    } catch let error as DatabaseServiceError {
      return DatabaseFailure.response(to: error, call: call)
    }
  }

  // MARK: Reading

  private func read() async throws -> HTTPResponse {
    let request = DatabaseReadRequest(
      namespace: place.namespace, path: call.path, spec: call.spec, depth: call.isShallow ? .keys : .all,
      requiresIndex: true)
    let node = try await perform(request)
    // The tag is that of a path: a part of it has none that a write could name.
    let isWhole = call.spec.isDefault && !call.isShallow
    guard isWhole, call.wantsETag || call.ifNoneMatch != nil else {
      return HTTPResponse(DatabaseRESTWire.answer(node, to: call), to: call)
    }
    let hash = NodeHash.hash(node)
    if call.ifNoneMatch == DatabaseRESTWire.etag(ofHash: hash) {
      return HTTPResponse(HTTPStatus(304), fields: ["etag": DatabaseRESTWire.etag(ofHash: hash)])
    }
    return HTTPResponse(DatabaseRESTWire.answer(node, to: call, hash: hash), to: call)
  }

  /// Refuses a query without its index, which a connection would answer with a warning.
  func checkIndex() async throws {
    guard call.spec.index != .key, call.spec.index != .priority else { return }
    var spec = call.spec
    spec.limit = .init(1, .first)
    let request = DatabaseReadRequest(namespace: place.namespace, path: call.path, spec: spec, requiresIndex: true)
    do {
      _ = try await backend.read(request, context: context)
    } catch  where error.code == .failedPrecondition {
      throw error
    } catch {
      // The request itself says it.
    }
  }

  // MARK: Writing

  private func put(_ node: DatabaseNode) async throws -> HTTPResponse {
    let written = try await perform(
      DatabaseWriteRequest(namespace: place.namespace, path: call.path, .put(node), hash: expectedHash))
    let hash = call.wantsETag ? NodeHash.hash(written) : nil
    return HTTPResponse(DatabaseRESTWire.answer(written, to: call, hash: hash), to: call)
  }

  private func patch() async throws -> HTTPResponse {
    let values: [DatabasePathValue]
    do {
      values = try DatabaseRESTWire.values(json: body, tuning: tuning.wire)
    } catch {
      throw DatabaseServiceError(
        .invalidArgument,
        "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?")
    }
    let written = try await perform(
      DatabaseWriteRequest(namespace: place.namespace, path: call.path, .merge(values), hash: expectedHash))
    // As they were sent, with values of the server filled in.
    var merged: [DatabasePathValue] = []
    for value in values {
      let isPriority = value.path.back?.isPriority == true
      merged.append(DatabasePathValue(value.path, isPriority ? await self.written(value) : written[value.path]))
    }
    return HTTPResponse(DatabaseRESTWire.answer(merged: merged, to: call), to: call)
  }

  /// The priority that a merge has written.
  ///
  /// It is not in the written node: a node without content has no priority. A value of the server is read, and is
  /// answered as it was sent where the caller may not read it.
  private func written(_ priority: DatabasePathValue) async -> DatabaseNode {
    guard ServerValues.areIn(priority.node) else { return priority.node }
    let path = call.path.appending(priority.path)
    return (try? await perform(DatabaseReadRequest(namespace: place.namespace, path: path))) ?? priority.node
  }

  private func append() async throws -> HTTPResponse {
    let node = try node()
    let key = DatabaseKey(PushKeys.next(at: host.clock.now() / 1_000))
    let path = call.path.appending(DatabasePath([key]))
    _ = try await perform(DatabaseWriteRequest(namespace: place.namespace, path: path, .put(node)))
    return HTTPResponse(DatabaseRESTWire.answer(appended: key, to: call), to: call)
  }

  private func node() throws -> DatabaseNode {
    do {
      return try NodeWire.node(json: body, tuning: tuning.wire)
    } catch {
      throw DatabaseServiceError(
        .invalidArgument,
        "Invalid data; couldn't parse JSON object, array, or value. Perhaps you're using invalid characters in your "
          + "key names.")
    }
  }

  private var expectedHash: String? { call.ifMatch.map { DatabaseRESTWire.hash(ofETag: $0) } }

  // MARK: The backend

  private func perform(_ request: DatabaseReadRequest) async throws -> DatabaseNode {
    guard call.authOverride == nil else { return try await OwnerSession(self).read(request) }
    return try await backend.read(request, context: context).node
  }

  private func perform(_ request: DatabaseWriteRequest) async throws -> DatabaseNode {
    guard call.authOverride == nil else { return try await OwnerSession(self).reply(to: request.request).node }
    return try await backend.write(request, context: context)
  }
}

/// The keys of appended children, which only grow.
private enum PushKeys {
  private static let keys = Locked(PushID())

  static func next(at milliseconds: Int64) -> String { keys.withLock { $0.next(at: milliseconds) } }
}
