import VestaBytes
import VestaConcurrency
public import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// Listen and Write: their first request names the database, and the service knows the caller's call from then on.
extension FirestoreRemote {
  /// Opens a call that follows targets.
  public func listen(
    database: String, context: CallContext
  ) async throws(FirestoreServiceError) -> ListenCall {
    try await channel.duplex(call("Listen", database), context: context) { (request: ListenRequest) in
      try ListenRequestWire.bytes(of: ListenStreamRequest(database: database, request))
    } decode: {
      try ListenResponseWire.message(from: $0)
    }
  }

  /// Opens a call that writes.
  public func write(
    database: String, context: CallContext
  ) async throws(FirestoreServiceError) -> WriteCall {
    let isBegun = Locked(false)
    let sendsIdentifiers = options.sendsWriteIdentifiers
    return try await channel.duplex(call("Write", database), context: context) { (request: WriteRequest) in
      var request = request
      let isFirst = isBegun.withLock { isBegun in
        defer { isBegun = true }
        return !isBegun
      }
      if isFirst, request.database.isEmpty { request.database = database }
      if !sendsIdentifiers { request.id = nil }
      return try WriteRequestWire.bytes(of: WriteStreamRequest(request))
    } decode: {
      try WriteResponseWire.message(from: $0)
    }
  }
}
