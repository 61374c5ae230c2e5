import VestaBytes
import VestaConcurrency
public import VestaDatabaseBackend
import VestaDatabaseWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The tree service on another machine, by Firebase's protocol: a server, an emulator, or Firebase.
///
/// - A connection is a WebSocket by version 5 of the protocol. It ends with the WebSocket: the client above connects
///   again, and sends again what was not answered. A write that had arrived is then carried out twice with the same
///   content, which only values of the server show (an increment is added twice).
/// - Calls without a connection are requests of the REST API; nothing is repeated.
/// - The protocol has no place for the nodes of replies to writes (`DatabaseConnectRequest.wantsNodes`), nor for the
///   warnings of a read on a connection.
/// - Tokens are sent over TLS, and to this machine; a connection that would send one in clear text fails.
///
/// ```swift
/// let remote = DatabaseRemote(on: try RESTService(client, at: "http://localhost:9000"))
/// let request = DatabaseConnectRequest(namespace: "demo-default-rtdb")
/// let connection = remote.connect(request) { message in print(message) }
/// ```
///
/// To read on: `Connection/RemoteConnectionMachine.swift`, then `DatabaseRemote+Administration.swift`.
public final class DatabaseRemote: DatabaseBackend, DatabaseAdminBackend {
  typealias Channel = RESTChannel<DatabaseServiceError>

  let project: String
  let options: DatabaseRemoteOptions
  let tuning: DatabaseRemoteTuning
  private let service: RESTService
  /// The hosts that have named themselves, by the address that was configured.
  private let hosts = Locked<[HTTPURL: String]>([:])

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project, for the calls of its administration.
  ///   - service: The server; with a domain in the options its scheme alone counts.
  ///   - options: The settings.
  public init(
    project: String = "demo", on service: RESTService, options: DatabaseRemoteOptions = DatabaseRemoteOptions()
  ) {
    self.project = project
    self.options = options
    tuning = options.tuning
    var service = service
    service.options.maximumAnswer = max(service.options.maximumAnswer, tuning.answerBytes)
    self.service = service
  }

  // MARK: Connections

  /// Opens a connection; returns at once.
  public func connect(
    _ request: DatabaseConnectRequest, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) -> any DatabaseConnection {
    let service = service(of: request.namespace, at: request.origin)
    let origin = service.origin
    var opening = DatabaseOpening(namespace: request.namespace)
    opening.lastSession = request.lastSession
    let machine = RemoteConnectionMachine(
      host: hosts.withLock { $0[origin] }, followsHosts: options.followsHosts, tuning: tuning)
    let runner = RemoteConnectionRunner(
      service, target: "/.ws?\(opening.query)", context: request.context, timeout: tuning.openingTime, machine: machine,
      remember: { [weak self] host in self?.hosts.withLock { $0[origin] = host } }, receive: receive)
    runner.start()
    return RemoteConnection(runner)
  }

  /// The server of a database.
  ///
  /// - Parameters:
  ///   - namespace: The database.
  ///   - origin: The address by which the program names the database.
  func service(of namespace: String, at origin: String? = nil) -> RESTService {
    guard let domain = options.domain else { return service }
    if let url = origin.flatMap({ HTTPURL($0) }) {
      var own = service
      own.origin = url
      return own
    }
    return service.moved(to: "\(namespace).\(domain)") ?? service
  }

  // MARK: Calls without a connection

  /// Reads once, without a connection.
  ///
  /// A query without its index is refused by the REST API; where the request allows one, a connection reads it.
  public func read(
    _ request: DatabaseReadRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseReadResult {
    var call = DatabaseRESTCall(.get, request.path, namespace: request.namespace)
    call.spec = request.spec
    call.isShallow = request.depth == .keys
    call.isExport = !call.isShallow
    do throws(DatabaseServiceError) {
      return DatabaseReadResult(try await reply(to: call, context: context).node)
    } catch  where error.message.hasPrefix(Self.noIndex) && !request.requiresIndex && request.depth == .all {
      let get = DatabaseRequest.get(request.path, request.spec)
      let reply = try await replyOnce(to: get, in: request.namespace, context: context)
      return DatabaseReadResult(reply.node, warnings: ["no_index"])
    }
  }

  /// Writes once, without a connection.
  ///
  /// Firebase's REST API has no condition for writes to several paths: it refuses a merge with a hash.
  public func write(
    _ request: DatabaseWriteRequest, context: CallContext
  ) async throws(DatabaseServiceError) -> DatabaseNode {
    var call = DatabaseRESTCall(.put, request.path, namespace: request.namespace)
    call.isExport = true
    call.ifMatch = request.hash.map { DatabaseRESTWire.etag(ofHash: $0) }
    switch request.change {
    case .put(let node):
      return try await reply(to: call, body: NodeWire.bytes(of: node), context: context).node
    case .merge(let values):
      call.action = .patch
      let reply = try await reply(to: call, body: DatabaseRESTWire.json(of: values), context: context) { answer in
        let written = try DatabaseRESTWire.values(json: answer.body, tuning: self.tuning.wire)
        return DatabaseReply(.ok, node: written.reduce(.empty) { $0.setting($1.path, to: $1.node) })
      }
      return reply.node
    }
  }

  private static func request(for call: DatabaseRESTCall, _ body: [UInt8]) -> RESTCall {
    var fields = HTTPFields()
    for field in DatabaseRESTWire.fields(of: call) {
      if let name = HTTPFieldName(field.name) { fields.append(name, field.value) }
    }
    var request = RESTCall(
      HTTPMethod(call.action.rawValue), DatabaseRESTWire.target(of: call), fields: fields, body: body,
      isRepeatable: call.action == .get)
    request.hasToken = call.credential != nil
    return request
  }

  /// Makes a call of the REST API.
  func reply(
    to call: DatabaseRESTCall, body: [UInt8] = [], context: CallContext,
    _ decode: ((RESTAnswer) throws -> DatabaseReply)? = nil
  ) async throws(DatabaseServiceError) -> DatabaseReply {
    var (call, context) = (call, context)
    call.disablesTriggers = context.suppressesEvents && call.action != .get
    if options.sendsUserTokensInQuery, case .credential(.idToken(let token)) = context.caller {
      call.credential = .auth(token)
      context.caller = .nobody
    }
    let request = Self.request(for: call, body)
    return try await channel(to: call.namespace).call(request, context: context) { answer in
      try decode?(answer)
        ?? DatabaseRESTWire.reply(
          DatabaseRESTAnswer(status: answer.status.code, body: answer.body), tuning: tuning.wire)
    }
  }

  /// The way to the REST API of a database.
  func channel(to namespace: String?) -> Channel {
    Channel(namespace.map { service(of: $0) } ?? service) { [tuning] in Self.failure($0, tuning) }
  }

  /// The beginning of the sentence by which the REST API refuses a query without its index.
  private static let noIndex = "Index not defined"

  private static func failure(_ answer: RESTAnswer, _ tuning: DatabaseRemoteTuning) -> DatabaseServiceError {
    let status = answer.status.code
    let reply = try? DatabaseRESTWire.reply(
      DatabaseRESTAnswer(status: status, body: answer.body), tuning: tuning.wire)
    switch (status, reply) {
    case (400, let reply?) where reply.message.hasPrefix(noIndex):
      return DatabaseServiceError(.failedPrecondition, reply.message)
    case (404, _), (501, _): return DatabaseServiceError(answer.failure)
    case (_, let reply?): return DatabaseServiceError(reply)
    default: return DatabaseServiceError(answer.failure)
    }
  }
}
