import VestaBytes
import VestaDatabaseBackend

extension DatabaseServerWire {
  /// Reads a frame.
  ///
  /// - Returns: The frame; `nil` for a type of a newer service, which a client ignores.
  /// - Throws: ``DatabaseWireError``.
  public static func frame(
    json: [UInt8], tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(DatabaseWireError) -> DatabaseServerFrame? {
    let (kind, body) = try Envelope.read(json, tuning)
    var id: Int?
    do throws(BytesError) {
      guard kind == .data else { return try control(body) }
      if let number = body["r"]?.integer {
        guard let reply = Int(exactly: number), case .object(let content)? = body["b"] else {
          throw BytesError(.malformed, "a reply has no content")
        }
        id = reply
        let status = DatabaseStatus(rawValue: try content.required("s"))
        return .reply(reply, DatabaseReplyBody(status: status, data: content["d"] ?? .null))
      }
      guard let action = try body.text("a") else { return nil }
      return try push(action, body["b"]?.object ?? JSONObject())
    } catch {
      throw DatabaseWireError(error, requestID: id)
    }
  }

  private static func control(_ body: JSONObject) throws(BytesError) -> DatabaseServerFrame? {
    switch body["t"]?.string {
    case "h":
      guard case .object(let content)? = body["d"], let timestamp = content["ts"]?.integer else {
        throw BytesError(.malformed, "the first message has no time")
      }
      let hello = DatabaseHello(timestamp: timestamp, session: try content.required("s"))
      return .handshake(hello, host: try content.text("h") ?? "")
    case "r": return .redirect(host: try body.required("d"))
    case "s": return .shutdown(reason: try body.text("d") ?? "")
    case "e": return .log(try body.text("d") ?? "")
    case "o": return .pong
    case "a": return .upgradeReady
    case "n": return .endOfTransmission
    default: return nil
    }
  }

  private static func push(_ action: String, _ body: JSONObject) throws(BytesError) -> DatabaseServerFrame? {
    switch action {
    case "d": return .push(.data(try body.path(), try NodeWire.node(body["d"] ?? .null), tag: try body.tag()))
    case "m": return .push(.merge(try body.path(), try body.values(), tag: try body.tag()))
    case "rm": return .push(.rangeMerge(try body.path(), try ranges(body["d"]), tag: try body.tag()))
    case "c": return .listensRevoked(try body.path(), try specs(body["q"]))
    case "ac": return .push(.authRevoked(status: try body.text("s") ?? "", reason: try body.text("d") ?? ""))
    case "apc":
      return .push(.appCheckRevoked(status: try body.text("s") ?? "", reason: try body.text("d") ?? ""))
    case "sd": return .push(.debug(try body.text("msg") ?? ""))
    default: return nil
    }
  }

  /// The queries of a revocation: an array of them, one alone, or none for that of everything.
  private static func specs(_ json: JSONValue?) throws(BytesError) -> [DatabaseQuerySpec] {
    guard case .array(let elements)? = json else { return [try QueryWire.spec(json)] }
    var specs: [DatabaseQuerySpec] = []
    for element in elements { specs.append(try QueryWire.spec(element)) }
    return specs.isEmpty ? [.all] : specs
  }

  private static func ranges(_ json: JSONValue?) throws(BytesError) -> [DatabaseRangeMerge] {
    guard case .array(let elements)? = json else { throw BytesError(.malformed, "ranges are no array") }
    var ranges: [DatabaseRangeMerge] = []
    for element in elements {
      guard case .object(let range) = element else { throw BytesError(.malformed, "a range is no object") }
      let start = try range.text("s").map { DatabasePath($0) }
      let end = try range.text("e").map { DatabasePath($0) }
      ranges.append(DatabaseRangeMerge(after: start, through: end, try NodeWire.node(range["m"] ?? .null)))
    }
    return ranges
  }
}
