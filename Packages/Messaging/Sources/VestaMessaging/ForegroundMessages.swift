/// The messages that arrive while the program runs, in order: each loop over it receives all of them.
///
/// A message is acknowledged when the loop asks for the next one; the loop that is left, in whatever way, has
/// done with the message that it was left with. Messages that no loop has taken are given back: the service
/// delivers it again, to the next loop or after a restart, with the same id. So nothing is lost when a loop is left,
/// its task is cancelled, or the process ends at any point, and a message is delivered again when the process ended
/// before its loop asked for the next one.
///
/// The service delivers no more than 100 messages that are not acknowledged (its `deliveryWindow`), so a slow loop
/// holds back the service and not the memory of the process. Of several loops the slowest decides when a message is
/// acknowledged.
///
/// ```swift
/// for await message in messaging.foregroundMessages {
///   try await inbox.insert(message.data)  // acknowledged at the loop's next turn, after this line
/// }
/// ```
public struct ForegroundMessages: AsyncSequence, Sendable {
  /// A message.
  public typealias Element = MessagingRemoteMessage
  /// It never fails.
  public typealias Failure = Never

  private let delivery: DeliveryRunner

  init(_ delivery: DeliveryRunner) { self.delivery = delivery }

  /// Begins to receive messages, until the iterator is dropped.
  public func makeAsyncIterator() -> Iterator { Iterator(MessageReader(delivery)) }

  /// Reads the messages of one loop; it belongs to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: MessageReader

    init(_ reader: MessageReader) { self.reader = reader }

    /// Acknowledges the message that was returned before, and waits for the next one.
    ///
    /// - Returns: The message; `nil` when the app was deleted or the task is cancelled.
    public mutating func next() async -> MessagingRemoteMessage? { await reader.next() }
  }
}

@available(*, unavailable, message: "An iterator belongs to the task that reads it.")
extension ForegroundMessages.Iterator: Sendable {}

/// One loop; it is left when this is released with its iterator.
final class MessageReader: Sendable {
  private let delivery: DeliveryRunner
  private let reader: DeliveryRunner.Reader?

  init(_ delivery: DeliveryRunner) {
    self.delivery = delivery
    reader = delivery.addReader()
  }

  deinit { if let reader { delivery.leave(reader) } }

  func next() async -> MessagingRemoteMessage? {
    guard let reader else { return nil }
    return await delivery.next(reader)
  }
}
