import VestaTransportInterop

/// Sends the responses of a call in batches: one for each would cost a turn of the connection for each.
///
/// A call reads a version of the database while it sends. Up to a bound it continues without waiting for a slow caller,
/// so that the version is held for a short time.
struct ResponseSender: ~Copyable {
  private let call: GRPCServerCall
  private let tuning: FirestoreEndpointTuning
  private var batch: [[UInt8]] = []
  private var batchBytes = 0
  private var sentBytes = 0

  init(_ call: GRPCServerCall, _ tuning: FirestoreEndpointTuning) {
    self.call = call
    self.tuning = tuning
  }

  mutating func send(_ message: [UInt8]) async throws {
    batch.append(message)
    batchBytes += message.count
    if batchBytes >= tuning.batchBytes { try await flush() }
  }

  mutating func flush() async throws {
    guard !batch.isEmpty else { return }
    let ready = GRPCFrames(batch)
    sentBytes += batchBytes
    (batch, batchBytes) = ([], 0)
    if sentBytes > tuning.waitingBytes { try await call.send(ready) } else { call.offer(ready) }
  }
}
