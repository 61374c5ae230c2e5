import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// Which responses are written on the thread that serves all listeners, and which by the task of their own stream.
@Suite(.timeLimit(.minutes(10))) struct DeliveryPlaceTests {
  private static let database = "projects/demo/databases/d"

  /// A backend that offers batches to the receiver of a listen call, and notes which ones it takes.
  private struct OfferingBackend: ForwardingFirestoreBackend {
    let batches: [[ListenResponse]]
    let taken = Log<Bool>()

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { ReferenceBackend() }

    func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
      let left = Locked(batches)
      return ListenCall(
        responses: AsyncThrowingStream { nil },
        next: { take in
          while let batch = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            let isTaken = take(batch)
            taken.add(isTaken)
            if !isTaken { return batch }
          }
          return nil
        }, send: { _ in }, finish: {}, cancel: {})
    }
  }

  private func response(_ fields: MapValue) -> ListenResponse {
    .documentChange(
      DocumentChange(document: Document(name: Self.database + "/documents/a/b", fields: fields), targetIDs: [1]))
  }

  /// - Returns: Which of the batches were taken, and the number of bytes that the caller got.
  private func deliver(
    _ batches: [[ListenResponse]], _ tuning: FirestoreEndpointTuning = FirestoreEndpointTuning()
  ) async throws -> (taken: [Bool], bytes: Int) {
    let (host, backend) = (FakeEndpointHost(project: "demo"), OfferingBackend(batches: batches))
    host.add((any FirestoreBackend).self, backend)
    let first = try MessageForm.schema(ListenRequestWire.self).write(ListenStreamRequest(database: Self.database, nil))
    let body = ByteStream()
    body.offer([0, 0, 0, 0, UInt8(first.count)] + first)
    let request = HTTPRequest(
      .post, "/google.firestore.v1.Firestore/Listen", authority: "h", fields: [.contentType: "application/grpc"],
      body: .stream(body))
    guard case .task(let work) = FirestoreEndpoints(tuning: tuning).handler(in: host).reply(to: request) else {
      throw ServiceStatus(.internal, "the call has not begun")
    }
    let responses = try await work().body.stream
    var bytes = 0
    while let piece = try await responses.next() { bytes += piece.count }
    return (backend.taken.entries, bytes)
  }

  @Test func `many responses are left to the task of their stream`() async throws {
    var tuning = FirestoreEndpointTuning()
    tuning.inPlaceResponses = 2
    let response = response(["n": .integer(1)])
    let outcome = try await deliver([1, 2, 3, 2].map { Array(repeating: response, count: $0) }, tuning)
    #expect(outcome.taken == [true, true, false, true])
    let one = try await deliver([[response]]).bytes
    #expect(outcome.bytes == 8 * one)
  }

  @Test(
    arguments: [
      ["text": .string(String(repeating: "x", count: 40_000))], ["bytes": .bytes(Array(repeating: 1, count: 40_000))],
      ["list": .array(Array(repeating: .integer(1), count: 20_000))],
      ["map": .map(["list": .array(Array(repeating: .map(["a": .null]), count: 5_000))])],
    ] as [MapValue])
  func `a large document is left to the task of its stream, and so is each copy of it`(fields: MapValue) async throws {
    let (small, large) = (response(["n": .integer(1)]), [response(fields)])
    let outcome = try await deliver([[small], large, large, [small, small]])
    #expect(outcome.taken.prefix(3) == [true, false, false])
    let one = try await deliver([large]).bytes
    #expect(outcome.bytes > 2 * one)
  }

  @Test func `what a caller has not taken leaves the rest to the task of its stream`() async throws {
    // More than a stream may have waiting: the caller reads when everything has been offered.
    let large = response(["text": .string(String(repeating: "x", count: 30_000))])
    let outcome = try await deliver(Array(repeating: [large], count: 20))
    #expect(outcome.taken.first == true && outcome.taken.contains(false))
    #expect(outcome.bytes > 20 * 30_000)
  }
}
