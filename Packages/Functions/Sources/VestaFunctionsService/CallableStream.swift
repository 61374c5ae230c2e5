import VestaBytes
import VestaFunctionsValues

/// Sends messages to the caller of a streaming function.
///
/// ```swift
/// registry.onStreamingCall("countdown") { request, stream in
///   for number in stride(from: 3, to: 0, by: -1) { try await stream.send(number) }
///   return "go"
/// }
/// ```
public struct CallableStream<Message>: Sendable {
  let channel: StreamChannel?
  let encode: @Sendable (Message) throws -> JSONValue

  /// Sends a message; waits while the caller has not read the ones before.
  ///
  /// Messages to a caller that does not read them are left out.
  ///
  /// - Parameter message: The message.
  /// - Throws: `CancellationError` when the caller has left or the time limit has passed; errors of encoding.
  public func send(_ message: Message) async throws {
    try Task.checkCancellation()
    guard let channel else { return }
    try await channel.send(try encode(message))
  }
}
