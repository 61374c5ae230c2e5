import VestaBytes
import VestaMessagingBackend
import VestaStoreInterop

/// Lists the messages that wait or are kept; damaged rows are logged and left out.
struct OutboxPages {
  let reader: MessagingReader

  func page(_ pageSize: Int, before: Int64) async throws -> OutboxPage {
    var page = OutboxPage(messages: [])
    for entry in try await reader.reader.entries(in: Keys.messages(before: before), order: .descending) {
      let number = try Keys.number(of: entry.key)
      guard let record = StoreRow.intact(MessageRecord.self, entry.value, entry.key),
        record.kind != .subscriptionChange, let message = try? PushMessage(json: record.json)
      else { continue }
      if page.messages.count == pageSize {
        page.nextPageToken = "\(number + 1)"
        break
      }
      page.messages.append(try await listed(message, record, number))
    }
    return page
  }

  private func listed(_ message: PushMessage, _ record: MessageRecord, _ number: Int64) async throws -> OutboxMessage {
    let isWaiting: Bool? =
      record.kind == .direct ? try await reader.reader.get(Keys.queued(record.registration, number)) != nil : nil
    return OutboxMessage(
      messageID: Tokens.messageID(number, sentTime: record.sentTime), message: message, sentTime: record.sentTime,
      expiryTime: record.expiryTime, isWaiting: isWaiting)
  }
}
