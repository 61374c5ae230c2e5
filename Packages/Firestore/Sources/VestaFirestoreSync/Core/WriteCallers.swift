import VestaBytes

/// The callers that wait for pending writes: for one batch, or for all that were pending when they began to wait.
///
/// Worked example: batches 1 and 2 of a user are pending, each with its caller, and a third caller waits for both.
/// Batch 1 is refused: its caller gets the error. Batch 2 is acknowledged: its caller and the third one are resumed.
/// Had another user signed in before, the third caller would have been cancelled, and the other two would wait on.
struct WriteCallers {
  private var batches: [UTF8String: [Int: CallbackID]] = [:]
  private var waiting: [Int: [CallbackID]] = [:]

  init() {}

  /// How many wait for one batch, and for all that were pending.
  var counts: (batches: Int, waiting: Int) { (batches.values.reduce(0) { $0 + $1.count }, waiting.count) }

  /// Adds the caller of a batch of a user.
  mutating func add(_ callback: CallbackID, of batch: Int, _ user: UTF8String) {
    batches[user, default: [:]][batch] = callback
  }

  /// Adds a caller that waits for a batch of the current user and all before it.
  mutating func wait(_ callback: CallbackID, for batch: Int) { waiting[batch, default: []].append(callback) }

  /// Takes the callers of a batch of a user that has been answered: the one that gets the answer, and others.
  mutating func take(_ batch: Int, _ user: UTF8String) -> (caller: CallbackID?, others: [CallbackID]) {
    (batches[user]?.removeValue(forKey: batch), waiting.removeValue(forKey: batch) ?? [])
  }

  /// Takes the callers of all batches of a user, in their order.
  mutating func takeAll(of user: UTF8String) -> [CallbackID] {
    batches.removeValue(forKey: user)?.sorted { $0.key < $1.key }.map(\.value) ?? []
  }

  /// Takes the callers that wait for all that is pending, in the order of the batches.
  mutating func takeWaiting() -> [CallbackID] {
    defer { waiting = [:] }
    return waiting.sorted { $0.key < $1.key }.flatMap(\.value)
  }
}
