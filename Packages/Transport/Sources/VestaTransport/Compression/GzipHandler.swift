public import VestaTransportInterop

/// A handler that compresses the responses of the one inside, for clients that take gzip.
///
/// Only what becomes smaller is compressed: texts, JSON, XML, scripts, and not short ones. A stream is compressed piece
/// by piece, and each piece can be read on arrival. Responses that mix a secret with what an attacker has chosen
/// belong outside of it, because their length then reveals the secret.
public struct GzipHandler: HTTPHandler {
  private let inner: any HTTPHandler
  private let level: Int
  private let smallest: Int
  private let tuning: TransportTuning

  /// A handler.
  ///
  /// - Parameters:
  ///   - inner: The handler whose responses are compressed.
  ///   - level: 1 for the fastest to 9 for the smallest.
  ///   - smallest: The number of bytes from which on a body that is whole is compressed.
  ///   - tuning: The constants at which it changes its behaviour; production uses the defaults.
  public init(
    _ inner: any HTTPHandler, level: Int = 1, smallest: Int = 1_024, tuning: TransportTuning = TransportTuning()
  ) {
    self.inner = inner
    self.level = level
    self.smallest = smallest
    self.tuning = tuning
  }

  /// As the handler inside.
  public func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { inner.bodyDelivery(for: head) }

  /// As the handler inside.
  public func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse { inner.refusal(of: head, limit: limit) }

  /// Lets the handler inside reply, and compresses its response.
  public func reply(to request: HTTPRequest) -> HTTPReply {
    let isTaken = request.method != .head && AcceptedEncodings.takesGzip(request.fields["accept-encoding"])
    switch inner.reply(to: request) {
    case .response(let response): return .response(compressed(response, isTaken))
    case .task(let work): return .task { compressed(try await work(), isTaken) }
    case .webSocket(let service): return .webSocket(service)
    }
  }

  private func compressed(_ response: HTTPResponse, _ isTaken: Bool) -> HTTPResponse {
    guard AcceptedEncodings.isWorthIt(response) else { return response }
    var response = response
    response.fields.append("vary", "accept-encoding")
    guard isTaken, let writer = GzipWriter(level: level, room: tuning.gzipRoomBytes) else { return response }
    switch response.body {
    case .empty: return response
    case .bytes(let bytes):
      guard bytes.count >= smallest else { return response }
      let made = writer.finish(bytes)
      guard made.count < bytes.count else { return response }
      response.body = .bytes(made)
    case .stream(let stream, let length):
      if let length, length < smallest { return response }
      response.body = .stream(GzipRelay(stream, writer, limit: tuning.gzipBacklogBytes).start())
    }
    describeCompression(in: &response.fields)
    return response
  }

  private func describeCompression(in fields: inout HTTPFields) {
    fields.set("content-encoding", "gzip")
    fields.remove("accept-ranges")
    // Other bytes have another tag, unless it is a weak one, which is for the content.
    if let tag = fields.first("etag"), !tag.hasPrefix("W/") { fields.set("etag", "W/" + tag) }
  }
}

/// Decides what is compressed.
enum AcceptedEncodings {
  /// Whether a client that sends this `accept-encoding` takes gzip.
  static func takesGzip(_ field: String?) -> Bool {
    guard let field else { return false }
    var takesAny = false
    for entry in field.lowercased().split(separator: ",") {
      let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let isRefused = parts.dropFirst().contains { part in
        part.hasPrefix("q=") && (Double(part.dropFirst(2)) ?? 0) <= 0
      }
      switch parts.first {
      case "gzip", "x-gzip": return !isRefused
      case "*": takesAny = !isRefused
      default: break
      }
    }
    return takesAny
  }

  /// Whether a response may be compressed, and would become smaller.
  static func isWorthIt(_ response: HTTPResponse) -> Bool {
    let fields = response.fields
    guard response.status.code != 206, !response.status.forbidsBody, !fields.contains("content-encoding"),
      !fields.contains("content-range"), !(fields["cache-control"] ?? "").lowercased().contains("no-transform"),
      let type = fields.first(.contentType)
    else { return false }
    let name = type.lowercased().prefix { $0 != ";" && $0 != " " }
    return name.hasPrefix("text/") || name.hasSuffix("+json") || name.hasSuffix("+xml")
      || [
        "application/json", "application/javascript", "application/xml", "application/wasm", "application/x-protobuf",
        "application/manifest+json",
      ].contains(String(name))
  }
}
