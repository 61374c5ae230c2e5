import VestaBytes
import VestaTransportInterop

/// The opening of a WebSocket on HTTP/1.1 (RFC 6455, section 4).
enum WebSocketHandshake {
  /// The answer of a server to the key of a client.
  static func accept(_ key: String) -> String {
    Base64.standard.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }

  /// The key of a request that asks for a WebSocket as the standard says; `nil` for any other.
  static func key(of request: HTTPRequest) -> String? {
    let fields = request.fields
    guard request.method == .get, tokens(fields.values(.upgrade)).contains("websocket"),
      tokens(fields.values(.connection)).contains("upgrade"), fields["sec-websocket-version"] == "13",
      let key = fields["sec-websocket-key"], (try? Base64.standard.decode(key))?.count == 16
    else { return nil }
    return key
  }

  /// The protocols that a client offers, in order.
  static func subprotocols(of request: HTTPRequest) -> [String] {
    request.fields.values("sec-websocket-protocol").joined(separator: ",").split(separator: ",")
      .map { $0.filter { $0 != " " && $0 != "\t" } }
  }

  /// The fields of the response with 101.
  static func fields(accepting key: String, subprotocol: String?, and others: HTTPFields) -> HTTPFields {
    var fields: HTTPFields = [.upgrade: "websocket", "sec-websocket-accept": accept(key)]
    if let subprotocol { fields.append("sec-websocket-protocol", subprotocol) }
    fields.append(contentsOf: others)
    return fields
  }

  // MARK: The client

  /// A key that no other request has.
  static func newKey(using random: inout some RandomNumberGenerator) -> String {
    Base64.standard.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
  }

  /// The fields with which a client asks for a WebSocket; the writer adds `connection: upgrade`.
  static func fields(asking key: String, _ subprotocols: [String]) -> [(HTTPFieldName, String)] {
    var fields: [(HTTPFieldName, String)] = [
      (.upgrade, "websocket"), ("sec-websocket-version", "13"), ("sec-websocket-key", key),
    ]
    if !subprotocols.isEmpty { fields.append(("sec-websocket-protocol", subprotocols.joined(separator: ", "))) }
    return fields
  }

  /// The protocol that a server has agreed on, which may be none.
  struct Agreed: Equatable {
    var name: String?
  }

  /// The agreement of a response with 101; `nil` for one that does not answer the key, or names what was not offered.
  static func agreed(_ fields: HTTPFields, key: String, offered: [String]) -> Agreed? {
    guard tokens(fields.values(.upgrade)) == ["websocket"], tokens(fields.values(.connection)).contains("upgrade"),
      fields["sec-websocket-accept"] == accept(key), !fields.contains("sec-websocket-extensions")
    else { return nil }
    guard let name = fields["sec-websocket-protocol"] else { return Agreed() }
    return offered.contains(name) ? Agreed(name: name) : nil
  }

  private static func tokens(_ values: [String]) -> [String] {
    values.joined(separator: ",").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
  }
}
