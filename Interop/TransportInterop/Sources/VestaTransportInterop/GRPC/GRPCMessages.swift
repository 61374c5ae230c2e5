import VestaConcurrency
import VestaServiceInterop

/// The messages that the peer of a call sends, in order; there is one reader.
///
/// A message that is not read is not taken from the connection, so a peer is no faster than its reader.
public final class GRPCMessages: AsyncSequence, Sendable {
  private struct State: Sendable {
    var machine: GRPCMessageMachine
    var ready = Fifo<[UInt8]>()
  }

  private let body: ByteStream
  private let limit: Int
  private let compression: TransportCompression?
  private let state: Locked<State>

  /// - Parameters:
  ///   - limit: The largest message, in bytes, also when it is decompressed.
  ///   - compression: How messages are compressed that say so; `nil` when none may be.
  init(_ body: ByteStream, limit: Int, compression: TransportCompression?) {
    self.body = body
    self.limit = limit
    self.compression = compression
    state = Locked(State(machine: GRPCMessageMachine(limit: limit)))
  }

  /// The next message; `nil` when the peer has said that none follows.
  ///
  /// - Throws: ``GRPCError``; `CancellationError`.
  public func next() async throws -> [UInt8]? {
    while true {
      if let message = takeReady() { return message }
      guard let messages = try await read() else { return nil }
      state.withLock { state in for message in messages { state.ready.append(message) } }
    }
  }

  /// The next message, if it has arrived.
  func takeReady() -> [UInt8]? { state.withLock { $0.ready.popFirst() } }

  /// All messages that are there, at least one; `nil` at the end.
  func nextBatch() async throws -> [[UInt8]]? {
    while true {
      let ready = state.withLock { $0.ready.takeAll() }
      if !ready.isEmpty { return ready }
      guard let messages = try await read() else { return nil }
      if !messages.isEmpty { return messages }
    }
  }

  /// Reads the next messages that have arrived.
  private func read() async throws -> [[UInt8]]? {
    guard let bytes = try await body.next() else {
      guard state.withLock({ !$0.machine.isInMessage }) else {
        throw GRPCError(.internal, "The stream has ended in the middle of a message.")
      }
      return nil
    }
    return try decode(bytes)
  }

  private func decode(_ bytes: [UInt8]) throws -> [[UInt8]] {
    let messages = try state.withLock { state in try Self.feed(&state.machine, bytes) }
    return try messages.map { try Self.plain($0, limit, compression) }
  }

  static func feed(_ machine: inout GRPCMessageMachine, _ bytes: [UInt8]) throws -> [GRPCMessageMachine.Message] {
    do {
      // Unsafe pointer, used inside the closure only: the machine copies what it keeps.
      return try bytes.withUnsafeBufferPointer { try machine.feed($0) }
    } catch let failure as GRPCMessageMachine.Failure {
      switch failure {
      case .tooLarge(let length): throw GRPCError(.resourceExhausted, "A message of \(length) bytes is too large.")
      case .unknownFlag: throw GRPCError(.internal, "A message begins with an unknown flag.")
      }
    }
  }

  static func plain(
    _ message: GRPCMessageMachine.Message, _ limit: Int, _ compression: TransportCompression?
  ) throws -> [UInt8] {
    guard message.isCompressed else { return message.bytes }
    guard let compression else {
      throw GRPCError(.internal, "A message is compressed, and its stream does not say how.")
    }
    do {
      return try compression.decompress(message.bytes, limit)
    } catch TransportError.Code.tooLarge {
      throw GRPCError(.resourceExhausted, "A message is larger than \(limit) bytes when it is decompressed.")
    } catch {
      throw GRPCError(.internal, "A message cannot be decompressed.")
    }
  }

  /// The one message of a body that is all there.
  static func only(_ bytes: [UInt8], _ limit: Int, _ compression: TransportCompression?) throws -> [UInt8] {
    // The usual one: a message as it is, and nothing else.
    if bytes.count >= 5, bytes.count - 5 <= limit, bytes[0] == 0,
      bytes[1..<5].reduce(0, { $0 << 8 | Int($1) }) == bytes.count - 5
    {
      return Array(bytes[5...])
    }
    var machine = GRPCMessageMachine(limit: limit)
    let messages = try feed(&machine, bytes)
    guard messages.count == 1, !machine.isInMessage else {
      throw GRPCError(.internal, "A call with one message came with \(messages.count).")
    }
    return try plain(messages[0], limit, compression)
  }

  /// A message as it travels.
  static func frame(_ message: [UInt8], _ compression: TransportCompression? = nil) throws -> [UInt8] {
    var frame: [UInt8] = []
    let bytes = try compression?.compress(message) ?? message
    frame.reserveCapacity(bytes.count + 5)
    GRPCMessageMachine.write(bytes, isCompressed: compression != nil, into: &frame)
    return frame
  }

  /// Reads the messages; there is one reader.
  public func makeAsyncIterator() -> Iterator { Iterator(messages: self) }

  /// Reads messages.
  public struct Iterator: AsyncIteratorProtocol {
    let messages: GRPCMessages

    /// The next message.
    public mutating func next() async throws -> [UInt8]? { try await messages.next() }
  }
}
