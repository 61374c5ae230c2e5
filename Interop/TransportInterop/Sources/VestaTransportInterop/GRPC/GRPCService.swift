/// A call as a service sees it, without its messages.
public struct GRPCContext: Sendable {
  /// The method: `/google.firestore.v1.Firestore/Listen`.
  public var path: String

  /// The fields of the request; the names of binary ones end in `-bin`.
  public var metadata: HTTPFields

  /// The time after which the caller waits no more, in microseconds since 1970; `nil` for no deadline.
  public var deadline: Int64?

  /// The connection of the call.
  public var peer: TransportPeer?

  /// A call.
  public init(path: String, metadata: HTTPFields = [:], deadline: Int64? = nil, peer: TransportPeer? = nil) {
    self.path = path
    self.metadata = metadata
    self.deadline = deadline
    self.peer = peer
  }
}

/// One message with the fields before and after it: the response of a call.
public struct GRPCResponse: Sendable, Hashable {
  /// The message.
  public var message: [UInt8]
  /// The fields before the message.
  public var metadata: HTTPFields
  /// The fields after the message, without the status.
  public var trailers: HTTPFields

  /// A response.
  public init(_ message: [UInt8], metadata: HTTPFields = [:], trailers: HTTPFields = [:]) {
    self.message = message
    self.metadata = metadata
    self.trailers = trailers
  }
}

/// The reply of a method with one request and one response.
public enum GRPCReply: Sendable {
  /// The response, made in place: no task was needed.
  case response(GRPCResponse)
  /// The call has failed.
  case failure(GRPCError)
  /// A task makes the response. It begins on the event loop of the connection, and is cancelled when the caller leaves
  /// or its deadline passes. An error that it throws becomes the status, by ``GRPCError/init(_:)-(Error)``.
  case task(@Sendable () async throws -> GRPCResponse)
}

/// A method of a service.
public enum GRPCMethod: Sendable {
  /// One request, one response. Called on the event loop, and never blocks; the placement is for replies by a task.
  case unary(placement: GRPCPlacement? = nil, @Sendable (GRPCContext, [UInt8]) -> GRPCReply)
  /// A stream of requests, a stream of responses, or both. The call ends when the closure returns or throws.
  case stream(
    placement: GRPCPlacement? = nil, @Sendable (GRPCContext, GRPCServerCall) async throws -> Void)
}

/// Chooses where the calls of a method run.
///
/// It is asked on the event loop, before the task of a call begins: of calls that arrive together each one is counted
/// before the next one is placed.
public struct GRPCPlacement: Sendable {
  let begin: @Sendable () -> (any TaskExecutor)?
  let end: @Sendable () -> Void

  /// A placement.
  ///
  /// - Parameters:
  ///   - begin: Called before a call; returns the executor of its task, `nil` for the one of its connection.
  ///   - end: Called once for each call, when it has ended, or without it having run.
  public init(begin: @escaping @Sendable () -> (any TaskExecutor)?, end: @escaping @Sendable () -> Void) {
    (self.begin, self.end) = (begin, end)
  }

  /// Places a call.
  func place() -> GRPCPlace { GRPCPlace(self) }
}

/// The place of one call, which is given back with the last reference: a call that never runs gives it back as well.
final class GRPCPlace: Sendable {
  /// Where the task of the call runs; `nil` for the executor of its connection.
  let executor: (any TaskExecutor)?
  private let placement: GRPCPlacement

  init(_ placement: GRPCPlacement) {
    self.placement = placement
    executor = placement.begin()
  }

  deinit { placement.end() }
}

/// An object that knows the methods of gRPC; ``GRPCHandler`` serves them.
///
/// ```swift
/// struct Greeter: GRPCService {
///   func method(at path: String) -> GRPCMethod? {
///     path == "/greet.Greeter/Hello" ? .unary { _, request in .response(GRPCResponse(request)) } : nil
///   }
/// }
/// let listener = try await server.listen(at: address, handler: GRPCHandler(Greeter()))
/// ```
public protocol GRPCService: Sendable {
  /// The method with a path; `nil` for none, and the call then fails with `UNIMPLEMENTED`.
  func method(at path: String) -> GRPCMethod?
}

/// The limits of gRPC.
public struct GRPCOptions: Sendable {
  /// The largest message that is accepted, in bytes, also when it is decompressed; a larger one fails its call with
  /// `RESOURCE_EXHAUSTED`.
  public var messageBytes: Int

  /// How messages are read that the peer has compressed; `nil` accepts none.
  public var compression: TransportCompression?

  /// The number of bytes that wait to be sent at which a writer pauses.
  public var streamBytes: Int

  /// Limits.
  public init(messageBytes: Int = 4 << 20, compression: TransportCompression? = nil, streamBytes: Int = 65_536) {
    self.messageBytes = messageBytes
    self.compression = compression
    self.streamBytes = streamBytes
  }
}
