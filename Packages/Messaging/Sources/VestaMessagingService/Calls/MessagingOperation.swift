import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// One call of the service, outside of any transaction.
///
/// The methods of the extensions next to this file are the calls of `MessagingEngine`, one for each. Work within
/// a transaction is a method of ``MessagingCall``; data that is only read is read through ``MessagingReader``.
///
/// Example: `send` checks here who sends and that the message can be delivered at all, writes its rows in a
/// `MessagingCall`, and starts the dispatch to the connections after the commit.
struct MessagingOperation: Sendable {
  let engine: MessagingEngine
  let context: CallContext

  var options: MessagingServiceOptions { engine.options }

  /// Reads at one version of the store.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (MessagingReader) async throws -> Value
  ) async throws -> Value {
    let senderID = engine.senderID
    return try await engine.store().read { reader in
      try await body(MessagingReader(reader: reader, usualSenderID: senderID))
    }
  }

  /// Writes in one transaction; `body` may run again after a conflict.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (MessagingCall) async throws -> Value
  ) async throws -> Value {
    let store = try await engine.store()
    let (options, senderID, now, pushed) = (options, engine.senderID, engine.time(), engine.platforms)
    return try await store.write { transaction in
      try await body(
        MessagingCall(transaction: transaction, options: options, senderID: senderID, now: now, pushed: pushed))
    }.value
  }

  /// Refuses every caller but the owner.
  func checkOwner() throws {
    guard context.isOwner else {
      throw MessagingServiceError(.permissionDenied, "Sending is for the owner: call with CallContext.owner.")
    }
  }
}
