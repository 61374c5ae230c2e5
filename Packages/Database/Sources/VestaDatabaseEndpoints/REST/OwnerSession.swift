import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// A call of an owner who acts with other variables of the rules: a connection has the request for that.
struct OwnerSession: Sendable {
  private let exchange: DatabaseExchange

  init(_ exchange: DatabaseExchange) { self.exchange = exchange }

  /// Reads; keys alone are the keys of the node that was read.
  func read(_ request: DatabaseReadRequest) async throws -> DatabaseNode {
    try await exchange.checkIndex()
    let reply = try await reply(to: .get(request.path, request.spec))
    guard request.depth == .keys, reply.node.leaf == nil else { return reply.node }
    var children: [(DatabaseKey, DatabaseNode)] = []
    reply.node.forEachChild { key, _ in children.append((key, DatabaseNode(.bool(true)))) }
    return DatabaseNode(children: children)
  }

  /// Signs in, and makes one request.
  func reply(to request: DatabaseRequest) async throws -> DatabaseReply {
    guard let credential else {
      throw DatabaseServiceError(.unauthenticated, "auth_variable_override needs the credential of an owner.")
    }
    var context = exchange.context
    context.caller = .nobody
    let link = MessageLink(
      to: exchange.backend,
      DatabaseConnectRequest(namespace: exchange.place.namespace, context: context, wantsNodes: true),
      limit: exchange.tuning.backlog)
    defer { link.close() }
    link.send(.authenticate(credential), id: 1)
    link.send(request, id: 2)
    while let message = try await link.nextMessage() {
      switch message {
      case .reply(1, let reply) where reply.status != .ok: throw DatabaseServiceError(reply)
      case .reply(2, let reply):
        guard reply.status == .ok else { throw DatabaseServiceError(reply) }
        return reply
      case .closed(let reason): throw DatabaseServiceError(.unavailable, reason)
      default: break
      }
    }
    throw DatabaseServiceError(.unavailable, "The connection has ended.")
  }

  private var credential: DatabaseCredential? {
    guard case .credential(let credential) = exchange.context.caller else { return nil }
    var own = DatabaseCredential(token: credential.token, isOwner: true)
    switch exchange.call.authOverride {
    case .object(let claims)?: own.override = .claims(claims)
    default: own.override = .nobody
    }
    return own
  }
}
