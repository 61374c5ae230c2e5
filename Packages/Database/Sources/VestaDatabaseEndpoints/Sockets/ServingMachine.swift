import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire

/// The service's side of a connection, as a value: texts of the client in, requests out, messages in, texts out.
///
/// It knows which request a reply answers, and how many wait for theirs.
///
/// ```
/// {"t":"d","d":{"r":7,"a":"g","b":{"p":"/a"}}}   ->  request(.get("a"), id: 7)
/// .reply(7, …)                                   ->  send({"t":"d","d":{"r":7,"b":{"s":"ok","d":1}}})
/// ```
struct ServingMachine: Sendable {
  /// The next action.
  enum Action: Sendable, Equatable {
    /// Sends a request to the backend.
    case request(DatabaseRequest, id: Int)
    /// Sends a text to the client.
    case send([UInt8])
    /// Ends the connection: the client breaks the protocol, or the backend has ended it.
    case close(reason: String)
  }

  private struct Pending {
    let kind: DatabaseReplyKind
    let size: Int
  }

  private let host: String
  private let tuning: DatabaseEndpointsTuning
  private var pending: [Int: Pending] = [:]
  private var pendingBytes = 0

  /// - Parameter host: The host that the client has reached.
  init(host: String, tuning: DatabaseEndpointsTuning) { (self.host, self.tuning) = (host, tuning) }

  /// Whether too many requests wait for replies to read further ones.
  var isFull: Bool { pending.count >= tuning.requestLimit || pendingBytes >= tuning.requestBytes }

  /// Takes a text of the client.
  mutating func received(_ json: [UInt8]) -> Action? {
    let message: DatabaseClientMessage
    do throws(DatabaseWireError) {
      message = try DatabaseClientWire.message(json: json, tuning: tuning.wire)
    } catch {
      // One wrong value need not end the connection, where the client learns which it was.
      guard let id = error.requestID, pending[id] == nil else { return .close(reason: error.failure.message) }
      return .send(
        DatabaseServerWire.bytes(of: DatabaseReply(.invalid, message: error.failure.message), to: .other, id: id))
    }
    switch message {
    case .ping: return (try? DatabaseServerWire.bytes(of: .pong)).map { .send($0) }
    // A session does not move to another connection.
    case .upgradeReady, .endOfTransmission: return nil
    case .request(let id, let request): return begin(request, id: id, size: json.count)
    }
  }

  private mutating func begin(_ request: DatabaseRequest, id: Int, size: Int) -> Action {
    guard pending[id] == nil else { return .close(reason: "the number of a request is that of another one") }
    pending[id] = Pending(kind: DatabaseReplyKind(answering: request), size: size)
    pendingBytes += size
    return .request(request, id: id)
  }

  /// Takes a message of the backend.
  mutating func received(_ message: DatabaseServerMessage) -> Action? {
    switch message {
    case .reply(let id, let reply):
      let request = pending.removeValue(forKey: id)
      pendingBytes -= request?.size ?? 0
      return .send(DatabaseServerWire.bytes(of: reply, to: request?.kind ?? .other, id: id))
    case .closed(let reason): return .close(reason: reason)
    default:
      do throws(BytesError) {
        return try DatabaseServerWire.bytes(of: message, host: host).map { .send($0) }
      } catch {
        return .close(reason: error.message)
      }
    }
  }
}
