public import VestaServiceInterop

extension GRPCMethod {
  /// A method with a `DuplexCall` behind it: a stream of requests and a stream of responses.
  ///
  /// The backend gets the requests on arrival; its responses are sent no faster than the caller reads. When the caller
  /// leaves or its deadline passes, the call of the backend is cancelled.
  ///
  /// - Parameters:
  ///   - decode: Reads a request; an error ends the call.
  ///   - encode: Writes a response.
  ///   - failure: The status for an error of the backend.
  ///   - open: Begins the call of the backend.
  public static func duplex<Request: Sendable, Response: Sendable>(
    decode: @escaping @Sendable ([UInt8]) throws -> Request, encode: @escaping @Sendable (Response) -> [UInt8],
    failure: @escaping @Sendable (any Error) -> GRPCError = { GRPCError($0) },
    open: @escaping @Sendable (GRPCContext) async throws -> DuplexCall<Request, Response>
  ) -> GRPCMethod {
    .stream { context, call in
      do {
        let duplex = try await open(context)
        try await withTaskCancellationHandler {
          try await carry(duplex, call, decode, encode)
        } onCancel: {
          duplex.cancel()
        }
      } catch {
        throw failure(error)
      }
    }
  }

  private static func carry<Request: Sendable, Response: Sendable>(
    _ duplex: DuplexCall<Request, Response>, _ call: GRPCServerCall,
    _ decode: @escaping @Sendable ([UInt8]) throws -> Request,
    _ encode: @escaping @Sendable (Response) -> [UInt8]
  ) async throws {
    defer { duplex.cancel() }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        for try await message in call.requests { duplex.send(try decode(message)) }
        duplex.finish()
        return false
      }
      group.addTask {
        for try await batch in duplex.responses { try await call.send(GRPCFrames(batch.map(encode))) }
        return true
      }
      // The end of the responses is the end of the call; that of the requests is not.
      while let isOver = try await group.next(), !isOver {}
      group.cancelAll()
    }
  }
}

extension GRPCChannel {
  /// Begins a call as a `DuplexCall`.
  ///
  /// - Parameters:
  ///   - path: The method: `/package.Service/Method`.
  ///   - metadata: Further fields of the request.
  ///   - timeout: How long the whole call may take.
  ///   - encode: Writes a request.
  ///   - decode: Reads a response; an error ends the call.
  ///   - failure: The product's failure for the status with which the server has ended the call.
  public func duplex<Request: Sendable, Response: Sendable>(
    _ path: String, metadata: HTTPFields = [:], timeout: Duration? = nil,
    encode: @escaping @Sendable (Request) -> [UInt8], decode: @escaping @Sendable ([UInt8]) throws -> Response,
    failure: @escaping @Sendable (GRPCError) -> any Error = { $0 }
  ) -> DuplexCall<Request, Response> {
    let call = open(path, metadata: metadata, timeout: timeout)
    let reader = DuplexReader(call)
    return DuplexCall(
      responses: AsyncThrowingStream {
        do {
          return try await reader.call.nextBatch()?.map(decode)
        } catch let error as GRPCError {
          throw failure(error)
        } catch is CancellationError {
          return nil
        }
      },
      send: { call.offer(encode($0)) }, finish: { call.finish() }, cancel: { call.cancel() })
  }
}

/// Owned by the responses alone: dropping them ends the call.
private final class DuplexReader: Sendable {
  let call: GRPCClientCall

  init(_ call: GRPCClientCall) { self.call = call }

  deinit { call.cancel() }
}
