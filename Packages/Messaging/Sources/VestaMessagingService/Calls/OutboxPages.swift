import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// Lists the messages that wait or are kept; damaged rows are logged and left out.
struct OutboxPages {
  /// The list that the tokens are of: all messages.
  static let scope = Array("outbox".utf8)

  let reader: MessagingReader

  func page(_ pageSize: Int, before: Int64) async throws -> OutboxPage {
    var page = OutboxPage(messages: [])
    var listed: [(number: Int64, record: MessageRecord, message: PushMessage)] = []
    _ = try await reader.reader.scan(Keys.messages(before: before), order: .descending, limit: nil) { row, value in
      let (key, bytes) = (row.bytes, value.bytes)
      guard let record = StoreRow.intact(MessageRecord.self, bytes, key),
        record.kind != .subscriptionChange, let message = try? PushMessage(json: record.json)
      else { return .next }
      let number = try Keys.number(of: key)
      guard listed.count < pageSize else {
        page.nextPageToken = PageToken(number: number + 1, of: OutboxPages.scope).text
        return .stop
      }
      listed.append((number, record, message))
      return .next
    }
    let waiting = try await waiting(listed.filter { $0.record.kind == .direct })
    page.messages = listed.map { number, record, message in
      OutboxMessage(
        messageID: Tokens.messageID(number, sentTime: record.sentTime), message: message, sentTime: record.sentTime,
        expiryTime: record.expiryTime, isWaiting: record.kind == .direct ? waiting.contains(number) : nil)
    }
    return page
  }

  /// The messages to one registration that wait for it, of some.
  private func waiting(
    _ messages: [(number: Int64, record: MessageRecord, message: PushMessage)]
  ) async throws -> Set<Int64> {
    guard !messages.isEmpty else { return [] }
    let rows = try await reader.reader.get(messages.map { Keys.queued($0.record.registration, $0.number) })
    return Set(zip(messages, rows).compactMap { message, row in row.map { _ in message.number } })
  }
}
