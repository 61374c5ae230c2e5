import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// The calls of `google.firestore.v1` by name, each for both wires.
///
/// A call is stated once: its messages, the resource name by which its project is found, and what it does.
struct CallTable: Sendable {
  /// Who calls: the context for a project.
  typealias Calling = @Sendable (_ project: String) -> CallContext

  /// A call over REST: from the message to the body of the response.
  typealias RESTCall = @Sendable (_ message: JSONValue, _ calling: Calling) async throws -> [UInt8]

  /// By name: `GetDocument`.
  private(set) var grpc: [String: GRPCMethod] = [:]
  /// By name; with whether the response is an array.
  private(set) var rest: [String: (call: RESTCall, isArray: Bool)] = [:]
  private let host: any EndpointHost
  let tuning: FirestoreEndpointTuning

  init(_ host: any EndpointHost, _ tuning: FirestoreEndpointTuning) {
    self.host = host
    self.tuning = tuning
    addDocumentCalls()
    addReads()
    addWrites()
    addStreams()
  }

  /// Adds a call with one request and one response.
  ///
  /// - Parameter isWrite: Whether several calls at a time run apart from the loop of their connection: a commit on the
  ///   loop keeps the ones behind it from joining the next commit of the store.
  mutating func unary<Request, Response>(
    _ name: String, _ requests: MessageForm<Request>, _ responses: MessageForm<Response>,
    resource: @escaping @Sendable (Request) -> String, isWrite: Bool = false,
    _ serve: @escaping @Sendable (any FirestoreBackend, Request, CallContext) async throws -> Response
  ) {
    let (host, limit) = (host, tuning.loopBytes)
    let run: @Sendable (Request, Calling) async throws -> Response = { request, calling in
      let project = try project(of: resource(request))
      let backend = try host.backend((any FirestoreBackend).self, project: project)
      return try await serve(backend, request, calling(project))
    }
    grpc[name] = .unary(placement: isWrite ? CallLoad.placement() : nil) { call, bytes in
      .task {
        try await failing {
          try await served(bytes.count, upTo: limit) {
            let request = try reading { () throws(BytesError) in try requests.read(bytes) }
            return GRPCResponse(try responses.write(try await run(request) { CallContext(grpc: call, project: $0) }))
          }
        }
      }
    }
    rest[name] = (
      { json, calling in
        let request = try reading { () throws(BytesError) in try requests.readJSON(json) }
        return try responses.writeJSON(try await run(request, calling))
      }, false
    )
  }

  /// Adds a call with one request and a stream of responses.
  ///
  /// - Parameter isLong: Whether several calls at a time run concurrently, and not one after the other on the loop of
  ///   their connection, because each of them computes for long.
  mutating func streaming<Request, Response>(
    _ name: String, _ requests: MessageForm<Request>, _ responses: MessageForm<Response>,
    resource: @escaping @Sendable (Request) -> String, isLong: Bool = false,
    _ serve:
      @escaping @Sendable (
        any FirestoreBackend, Request, CallContext, (Response) async throws -> Void
      ) async throws -> Void
  ) {
    let (host, tuning) = (host, tuning)
    let run: @Sendable (Request, Calling, (Response) async throws -> Void) async throws -> Void = {
      request, calling, receive in
      let project = try project(of: resource(request))
      let backend = try host.backend((any FirestoreBackend).self, project: project)
      try await serve(backend, request, calling(project), receive)
    }
    grpc[name] = .stream(placement: isLong ? CallLoad.placement() : nil) { call, stream in
      try await failing {
        guard let bytes = try await stream.requests.next() else {
          throw ServiceStatus(.internal, "The call came without a request.")
        }
        try await served(bytes.count, upTo: tuning.loopBytes) {
          let request = try reading { () throws(BytesError) in try requests.read(bytes) }
          var sender = ResponseSender(stream, tuning)
          try await run(request) {
            CallContext(grpc: call, project: $0)
          } _: {
            try await sender.send(try responses.write($0))
          }
          try await sender.flush()
        }
      }
    }
    rest[name] = (
      { json, calling in
        let request = try reading { () throws(BytesError) in try requests.readJSON(json) }
        var array: [UInt8] = [UInt8(ascii: "[")]
        var pausedAt = 0
        try await run(request, calling) { response in
          if array.count > 1 { array.append(UInt8(ascii: ",")) }
          array += try responses.writeJSON(response)
          guard array.count <= tuning.responseBytes else {
            throw ServiceStatus(.resourceExhausted, "The response has more than \(tuning.responseBytes) bytes.")
          }
          // A large result must not hold the loop of its connection, nor be made for a caller that has left.
          guard array.count - pausedAt >= tuning.batchBytes else { return }
          pausedAt = array.count
          try Task.checkCancellation()
          await Task.yield()
        }
        array.append(UInt8(ascii: "]"))
        return array
      }, true
    )
  }

  /// Adds a call with two streams; it is there over gRPC alone.
  mutating func duplex(
    _ name: String,
    _ serve: @escaping @Sendable (any EndpointHost, GRPCContext, GRPCServerCall) async throws -> Void
  ) {
    let host = host
    grpc[name] = .stream { call, stream in try await failing { try await serve(host, call, stream) } }
    absent(name)
  }

  /// States that REST has no such call.
  mutating func absent(_ name: String) {
    rest[name] = ({ _, _ in throw ServiceStatus(.unimplemented, "\(name) is not served here.") }, true)
  }
}

/// The number of running calls of one method, by which the next one is placed.
final class CallLoad: Sendable {
  private let running = Locked(0)

  /// The placement of the calls of a method: on the loop of the connection while there is one, which saves it two
  /// changes of threads, and apart from it otherwise.
  static func placement() -> GRPCPlacement {
    let load = CallLoad()
    return GRPCPlacement {
      load.begin()
    } end: {
      load.end()
    }
  }

  /// Counts a call.
  ///
  /// - Returns: Where it runs; `nil` for the loop of its connection.
  func begin() -> (any TaskExecutor)? {
    let isAlone = running.withLock { running in
      running += 1
      return running == 1
    }
    return isAlone ? nil : globalConcurrentExecutor
  }

  func end() { running.withLock { $0 -= 1 } }
}

/// A message that cannot be read.
struct BytesFailure: Error {
  let message: String
}

/// Runs the reading of a request: its errors are the caller's, and not errors of a response that cannot be written.
func reading<Result>(_ read: () throws(BytesError) -> Result) throws(BytesFailure) -> Result {
  do { return try read() } catch {
    throw BytesFailure(message: "Invalid request: \(error.message).")
  }
}

/// Has every error leave as one of gRPC.
func failing<Result>(_ body: () async throws -> Result) async throws -> Result {
  do { return try await body() } catch { throw grpcError(error) }
}

/// An error as one of gRPC.
func grpcError(_ error: any Error) -> GRPCError {
  switch error {
  case let error as GRPCError: error
  case let error as TransportError: GRPCError(error)
  default: GRPCError(status(of: error))
  }
}

extension CallContext {
  /// The context of a call of gRPC, without its deadline.
  ///
  /// The handler ends the call at the deadline and cancels its task, so the engine need not count as well.
  init(grpc call: GRPCContext, project: String) {
    self.init(call, project: project)
    deadline = nil
  }
}
