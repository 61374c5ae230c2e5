package import VestaFirestoreBackend

extension Value {
  /// The type of a map in place of a server time that is not known yet.
  static let serverTimestampType = "server_timestamp"

  /// A server time that a client has asked for and the service has not set yet.
  ///
  /// It never leaves the client. It sorts after all timestamps, and before strings.
  ///
  /// - Parameters:
  ///   - writeTime: When the client wrote it.
  ///   - previous: The field's previous value; `nil` for nothing.
  package static func pendingServerTimestamp(writeTime: Timestamp, previous: Value?) -> Value {
    var map: MapValue = [
      typeKey: .string(serverTimestampType), "__local_write_time__": .timestamp(writeTime),
    ]
    // A field that is written twice before the service answers keeps the value from before both writes.
    map["__previous_value__"] = previous.flatMap { $0.pendingWriteTime == nil ? $0 : $0.pendingPreviousValue }
    return .map(map)
  }

  /// The local write time of a pending server timestamp; `nil` for every other value.
  package var pendingWriteTime: Timestamp? {
    guard case .map(let map) = self, case .string(Value.serverTimestampType)? = map[Value.typeKey] else { return nil }
    guard case .timestamp(let time)? = map["__local_write_time__"] else { return nil }
    return time
  }

  /// The value before a pending server timestamp.
  package var pendingPreviousValue: Value? {
    guard case .map(let map) = self, pendingWriteTime != nil else { return nil }
    return map["__previous_value__"]
  }
}
