import VestaConcurrency
import VestaDatabaseBackend
import VestaTransportInterop

/// A connection of a backend whose messages wait until they are read.
///
/// The backend waits for no client: its messages are put into a pipe, and a reader that lags too far loses the
/// connection.
final class MessageLink: Sendable {
  /// An item that waits.
  enum Item: Sendable {
    /// A message of the backend.
    case message(DatabaseServerMessage)
    /// A text of the endpoints themselves, such as a sign of life, in its place among the messages.
    case text([UInt8])
  }

  /// The messages in their order; the end of the connection is the last one.
  let items: DemandPipe<Item>

  private struct State {
    var connection: (any DatabaseConnection)?
    var isClosed = false
    var onOverflow: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - limit: The size of what may wait.
  ///   - onOverflow: Called once when a reader lags further, which ends the link.
  init(
    to backend: any DatabaseBackend, _ request: DatabaseConnectRequest, limit: Int,
    onOverflow: @escaping @Sendable () -> Void = {}
  ) {
    items = DemandPipe(limit: limit) { Self.size(of: $0) }
    state.withLock { $0.onOverflow = onOverflow }
    let connection = backend.connect(request) { [weak self] in self?.received($0) }
    let isClosed = state.withLock { state in
      if !state.isClosed { state.connection = connection }
      return state.isClosed
    }
    if isClosed { connection.close() }
  }

  /// Sends a request.
  func send(_ request: DatabaseRequest, id: Int) { state.withLock { $0.connection }?.send(request, id: id) }

  /// Puts a text after the messages that wait.
  func insert(_ text: [UInt8]) { put(.text(text)) }

  /// The next message; `nil` after the last one.
  func nextMessage() async throws -> DatabaseServerMessage? {
    while let item = try await items.next() { if case .message(let message) = item { return message } }
    return nil
  }

  /// Ends the connection, and drops what has not been read.
  func close() {
    let connection = state.withLock { state in
      state.isClosed = true
      state.onOverflow = nil
      return state.connection.take()
    }
    connection?.close()
    items.cancel()
  }

  private func received(_ message: DatabaseServerMessage) {
    put(.message(message))
    if case .closed = message { items.finish() }
  }

  private func put(_ item: Item) {
    guard !items.offer(item), let onOverflow = state.withLock({ $0.onOverflow.take() }) else { return }
    onOverflow()
    close()
  }

  /// The size of an item, roughly: the direct content of a node, without a walk through the tree.
  private static func size(of item: Item) -> Int {
    switch item {
    case .message(.reply(_, let reply)): 128 + size(of: reply.node)
    case .message(.data(_, let node, _)): 128 + size(of: node)
    case .message(.merge(_, let values, _)): values.reduce(128) { $0 + 64 + size(of: $1.node) }
    case .message(.rangeMerge(_, let ranges, _)): ranges.reduce(128) { $0 + 64 + size(of: $1.node) }
    case .message: 128
    case .text(let bytes): 128 + bytes.count
    }
  }

  private static func size(of node: DatabaseNode) -> Int {
    if case .string(let text)? = node.leaf { return text.utf8.count }
    return 64 * node.childCount
  }
}
