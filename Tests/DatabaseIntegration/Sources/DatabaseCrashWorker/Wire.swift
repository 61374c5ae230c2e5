import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel

/// The messages between a client and an engine in another process, as lines: a word, a connection's number, bytes.
///
/// It has what the crash tests say: listens to everything, and no tokens.
enum Wire {
  /// A line of the wire, for one of several connections.
  enum Line: Equatable {
    case open(Int)
    case request(Int, DatabaseRequest, id: Int)
    case message(Int, DatabaseServerMessage)
    case close(Int)
  }

  static func write(_ line: Line) -> String {
    switch line {
    case .open(let connection): return "open \(connection)"
    case .close(let connection): return "close \(connection)"
    case .request(let connection, let request, let id):
      var writer = ByteWriter()
      writer.write(count: id)
      write(request, &writer)
      return "request \(connection) \(Hex.encode(writer.bytes))"
    case .message(let connection, let message):
      var writer = ByteWriter()
      write(message, &writer)
      return "message \(connection) \(Hex.encode(writer.bytes))"
    }
  }

  /// Reads a line; `nil` for one that says something else.
  static func read(_ text: some StringProtocol) throws -> Line? {
    let parts = text.split(separator: " ")
    guard parts.count > 1, let connection = Int(parts[1]) else { return nil }
    var reader = ByteReader(parts.count > 2 ? try Hex.decode(String(parts[2])) : [])
    switch parts[0] {
    case "open": return .open(connection)
    case "close": return .close(connection)
    case "request":
      let id = try reader.count()
      return .request(connection, try request(&reader), id: id)
    case "message": return .message(connection, try message(&reader))
    default: return nil
    }
  }

  // MARK: Requests

  private static func write(_ request: DatabaseRequest, _ writer: inout ByteWriter) {
    switch request {
    case .put(let path, let node, let hash):
      write(1, path, node, &writer)
      writer.write(string: hash ?? "-")
    case .merge(let path, let values, _): write(2, path, values, &writer)
    case .onDisconnectPut(let path, let node): write(3, path, node, &writer)
    case .onDisconnectMerge(let path, let values): write(4, path, values, &writer)
    case .onDisconnectCancel(let path): write(5, path, .empty, &writer)
    case .listen(let listen):
      write(6, listen.path, .empty, &writer)
      writer.write(string: listen.hash)
    case .unlisten(let path, _, _): write(7, path, .empty, &writer)
    case .get(let path, _): write(8, path, .empty, &writer)
    default: write(9, .root, .empty, &writer)
    }
  }

  private static func request(_ reader: inout ByteReader) throws -> DatabaseRequest {
    let kind = try reader.byte()
    let path = DatabasePath(try reader.string())
    if kind == 2 || kind == 4 {
      let values = try values(&reader)
      return kind == 2 ? .merge(path, values) : .onDisconnectMerge(path, values)
    }
    let node = try NodeCoding.decode(Array(try reader.blob()))
    switch kind {
    case 1:
      let hash = try reader.string()
      return .put(path, node, hash: hash == "-" ? nil : hash)
    case 3: return .onDisconnectPut(path, node)
    case 5: return .onDisconnectCancel(path)
    case 6: return .listen(DatabaseListen(path: path, hash: try reader.string()))
    case 7: return .unlisten(path, .all, tag: nil)
    case 8: return .get(path, .all)
    default: return .stats([:])
    }
  }

  // MARK: Messages

  private static func write(_ message: DatabaseServerMessage, _ writer: inout ByteWriter) {
    switch message {
    case .hello(let hello):
      writer.write(byte: 1)
      writer.write(zigzag: hello.timestamp)
      writer.write(string: hello.session)
    case .reply(let id, let reply):
      writer.write(byte: 2)
      writer.write(count: id)
      writer.write(string: reply.status.rawValue)
      writer.write(string: reply.message)
      writer.write(blob: NodeCoding.encode(reply.node))
    case .data(let path, let node, _): write(3, path, node, &writer)
    case .merge(let path, let values, _): write(4, path, values, &writer)
    case .closed(let reason):
      writer.write(byte: 5)
      writer.write(string: reason)
    default:
      writer.write(byte: 6)
      writer.write(string: "\(message)")
    }
  }

  private static func message(_ reader: inout ByteReader) throws -> DatabaseServerMessage {
    switch try reader.byte() {
    case 1: return .hello(DatabaseHello(timestamp: try reader.zigzag(), session: try reader.string()))
    case 2:
      let id = try reader.count()
      let (status, text) = (DatabaseStatus(rawValue: try reader.string()), try reader.string())
      return .reply(id, DatabaseReply(status, message: text, node: try NodeCoding.decode(Array(try reader.blob()))))
    case 3:
      let path = DatabasePath(try reader.string())
      return .data(path, try NodeCoding.decode(Array(try reader.blob())), tag: nil)
    case 4:
      let path = DatabasePath(try reader.string())
      return .merge(path, try values(&reader), tag: nil)
    case 5: return .closed(reason: try reader.string())
    default: return .debug(try reader.string())
    }
  }

  // MARK: Paths and nodes

  private static func write(_ kind: UInt8, _ path: DatabasePath, _ node: DatabaseNode, _ writer: inout ByteWriter) {
    writer.write(byte: kind)
    writer.write(string: path.text)
    writer.write(blob: NodeCoding.encode(node))
  }

  private static func write(
    _ kind: UInt8, _ path: DatabasePath, _ values: [DatabasePathValue], _ writer: inout ByteWriter
  ) {
    writer.write(byte: kind)
    writer.write(string: path.text)
    writer.write(count: values.count)
    for value in values {
      writer.write(string: value.path.text)
      writer.write(blob: NodeCoding.encode(value.node))
    }
  }

  private static func values(_ reader: inout ByteReader) throws -> [DatabasePathValue] {
    var values: [DatabasePathValue] = []
    for _ in 0..<(try reader.count()) {
      let path = DatabasePath(try reader.string())
      values.append(DatabasePathValue(path, try NodeCoding.decode(Array(try reader.blob()))))
    }
    return values
  }
}
