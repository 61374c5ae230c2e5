import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseWire
import VestaTesting

/// The UTF-8 of a string.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The string of UTF-8.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Random messages, over the trees and queries of the seam's fakes.
extension SplitMix {
  /// A string with everything that a writer has to escape.
  mutating func text() -> String {
    pick(["", "a", "é", "\u{1F600}", "\"\\/", "\u{0}\u{1F}", "</script>\u{2028}", "0", "[MIN_NAME]"])
  }

  /// A node; some of its leaves are for the server to decide.
  mutating func wireNode() -> DatabaseNode {
    guard oneIn(4) else { return node(depth: 3) }
    let leaf = pick([DatabaseLeaf.timestamp, .incrementInt(-3), .incrementDouble(2), .double(-0.0), .string(text())])
    let tree = DatabaseNode(leaf, priority: pick([nil, .timestamp, .string(text()), .double(1.5)]))
    return DatabaseNode(children: [(key(), tree), (DatabaseKey(pick(["é", "\u{1F600}", "01"])), node())])
  }

  mutating func values() -> [DatabasePathValue] {
    (0..<below(4)).map { DatabasePathValue(DatabasePath([DatabaseKey("k\($0)"), key()]), wireNode()) }
  }

  mutating func clientMessage() -> DatabaseClientMessage {
    let id = below(1_000)
    let path = path(0...3)
    switch below(17) {
    case 0: return .ping
    case 1: return pick([.upgradeReady, .endOfTransmission])
    case 2:
      return .request(
        id, .authenticate(DatabaseCredential(token: text(), isOwner: true, override: pick([nil, .nobody]))))
    case 3:
      return .request(
        id, .authenticate(DatabaseCredential(token: "t", isOwner: oneIn(2), override: .claims(["uid": "é"]))))
    case 4: return .request(id, .merge(path, values(), hash: text()))
    case 5: return .request(id, .authenticate(token: text()))
    case 6: return .request(id, pick([.unauthenticate, .unappCheck]))
    case 7: return .request(id, .appCheck(token: text()))
    case 8: return .request(id, .unlisten(path, spec(), tag: pick([nil, 7])))
    case 9: return .request(id, .get(path, spec()))
    case 10: return .request(id, .put(path, wireNode(), hash: pick([nil, text()])))
    case 11: return .request(id, .merge(path, values()))
    case 12: return .request(id, .onDisconnectPut(path, wireNode()))
    case 13: return .request(id, .onDisconnectMerge(path, values()))
    case 14: return .request(id, .onDisconnectCancel(path))
    case 15: return .request(id, .stats(["sdk.js.1": 1, "x": below(9)]))
    default:
      var listen = DatabaseListen(path: path, spec: spec(), tag: pick([nil, 3]), hash: text())
      if oneIn(3) { listen.compound = DatabaseCompoundHash(posts: [self.path(1...2)], hashes: ["a", ""]) }
      return .request(id, .listen(listen))
    }
  }

  mutating func serverFrame() -> DatabaseServerFrame {
    let path = path(0...3)
    let tag = pick([nil, 5])
    switch below(14) {
    case 0: return .handshake(DatabaseHello(timestamp: Int64(below(1 << 40)), session: text()), host: "h:9000")
    case 1: return .redirect(host: text())
    case 2: return .shutdown(reason: text())
    case 3: return .log(text())
    case 4: return pick([.pong, .upgradeReady, .endOfTransmission])
    case 5: return .reply(below(99), DatabaseReplyBody(status: pick([.ok, .dataStale]), data: .string(text())))
    case 6: return .push(.data(path, wireNode(), tag: tag))
    case 7: return .push(.merge(path, values(), tag: tag))
    case 8:
      let range = DatabaseRangeMerge(after: pick([nil, "a/b"]), through: pick([nil, "c"]), wireNode())
      return .push(.rangeMerge(path, [range], tag: tag))
    case 9: return .listensRevoked(path, [spec()])
    case 10: return .push(.authRevoked(status: "expired_token", reason: text()))
    case 11: return .push(.appCheckRevoked(status: text(), reason: text()))
    default: return .push(.debug(text()))
    }
  }

  /// The bytes with a few of them replaced, removed or doubled.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(4) where !bytes.isEmpty {
      let index = below(bytes.count)
      switch below(4) {
      case 0: bytes[index] = UInt8(below(256))
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(bytes[below(bytes.count)], at: index)
      default: bytes.replaceSubrange(index..<index, with: pick([utf8("[{"), utf8(".sv"), utf8("null"), utf8("1e999")]))
      }
    }
    return bytes
  }
}
