public import VestaBytes
public import VestaDatabaseBackend

/// An event of a listener: the name and the data of a server-sent event.
public enum DatabaseStreamEvent: Sendable, Hashable {
  /// The data at a path has been replaced.
  case put(DatabasePath, DatabaseNode)
  /// Several nodes below a path have been replaced.
  case patch(DatabasePath, [DatabasePathValue])
  /// Nothing has happened for a while.
  case keepAlive
  /// The rules no longer allow the read.
  case cancel
  /// The credential is no longer valid.
  case authRevoked(String)

  /// The event of a message for a listen; `nil` for one that is none.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - path: The path of the listen, from which paths of events start.
  public init?(_ message: DatabaseServerMessage, at path: DatabasePath) {
    switch message {
    case .data(let place, let node, _):
      guard let relative = path.relative(place) else { return nil }
      self = .put(relative, node)
    case .merge(let place, let values, _):
      guard let relative = path.relative(place) else { return nil }
      // At the deepest path that has them all, as the service says it.
      let shared = Self.sharedParent(of: values)
      self = .patch(
        relative.appending(shared),
        shared.isRoot
          ? values
          : values.map { DatabasePathValue(DatabasePath(Array($0.path.keys.dropFirst(shared.count))), $0.node) })
    case .listenRevoked: self = .cancel
    case .authRevoked(_, let reason): self = .authRevoked(reason)
    default: return nil
    }
  }

  /// The path above all values; the root for none.
  private static func sharedParent(of values: [DatabasePathValue]) -> DatabasePath {
    guard var shared = values.first.map({ Array($0.path.keys.dropLast()) }) else { return .root }
    for value in values.dropFirst() {
      let parent = value.path.keys.dropLast()
      shared = Array(zip(shared, parent).prefix { $0 == $1 }.map { $0.0 })
    }
    return DatabasePath(shared)
  }

  /// The name of the event.
  public var name: String {
    switch self {
    case .put: "put"
    case .patch: "patch"
    case .keepAlive: "keep-alive"
    case .cancel: "cancel"
    case .authRevoked: "auth_revoked"
    }
  }

  /// The data of the event, which is one line.
  ///
  /// - Parameter form: The parts of the nodes that are written.
  public func data(form: NodeWire.Form = .plain) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    switch self {
    case .put(let path, let node):
      writer.open(UInt8(ascii: "{"))
      writer.member("path", path.description)
      writer.name("data")
      NodeWire.write(node, form, to: &writer)
      writer.close(UInt8(ascii: "}"))
    case .patch(let path, let values):
      writer.open(UInt8(ascii: "{"))
      writer.member("path", path.description)
      writer.name("data")
      writer.open(UInt8(ascii: "{"))
      for value in values {
        writer.name(key: value.path.text)
        NodeWire.write(value.node, form, to: &writer)
      }
      writer.close(UInt8(ascii: "}"))
      writer.close(UInt8(ascii: "}"))
    case .keepAlive, .cancel: writer.write(raw: "null")
    case .authRevoked(let reason): writer.write(string: reason)
    }
    return writer.bytes
  }

  /// Reads an event.
  ///
  /// - Returns: The event; `nil` for another name.
  /// - Throws: `BytesError` with `.malformed`.
  public static func event(
    name: String, data: [UInt8], tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(BytesError) -> DatabaseStreamEvent? {
    switch name {
    case "keep-alive": return .keepAlive
    case "cancel": return .cancel
    case "auth_revoked":
      let text = (try? JSONValue(json: data, limits: tuning.limits))?.string
      return .authRevoked(text ?? String(decoding: data, as: UTF8.self))
    case "put", "patch":
      let object = try JSONObject(json: data, limits: tuning.limits)
      let path = try object.path("path")
      if name == "put" { return .put(path, try NodeWire.node(object["data"] ?? .null)) }
      return .patch(path, try object.values("data"))
    default: return nil
    }
  }
}
