import VestaBytes
import VestaMessagingBackend
import VestaStoreInterop

/// Lists the messages that wait or are kept.
struct OutboxCall {
  let reader: MessagingReader

  func page(_ pageSize: Int, before: Int64) async throws -> OutboxPage {
    var page = OutboxPage(messages: [])
    for entry in try await reader.reader.entries(in: Keys.messages(before: before), order: .descending) {
      let number = try Keys.number(of: entry.key)
      let record = try StoreRow.decode(MessageRecord.self, entry.value, entry.key)
      guard record.kind != .subscriptionChange else { continue }
      if page.messages.count == pageSize {
        page.nextPageToken = "\(number + 1)"
        break
      }
      page.messages.append(try await message(record, number))
    }
    return page
  }

  private func message(_ record: MessageRecord, _ number: Int64) async throws -> OutboxMessage {
    let isWaiting: Bool? =
      record.kind == .direct ? try await reader.reader.get(Keys.queued(record.registration, number)) != nil : nil
    return OutboxMessage(
      messageID: Tokens.messageID(number, sentTime: record.sentTime), message: try PushMessage(json: record.json),
      sentTime: record.sentTime, expiryTime: record.expiryTime, isWaiting: isWaiting)
  }
}
