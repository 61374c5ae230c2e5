import Testing
import VestaFirestoreBackend
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

@Suite(.timeLimit(.minutes(5))) struct ResponseBatchTests {
  /// The number of pieces in which fifty small responses of a call leave.
  private func pieces(batchBytes: Int) async throws -> Int {
    let host = FakeEndpointHost(project: "demo")
    host.add((any FirestoreBackend).self, ReferenceBackend())
    var tuning = FirestoreEndpointTuning()
    tuning.batchBytes = batchBytes
    let database = "projects/demo/databases/(default)"
    let names = (0..<50).map { "\(database)/documents/a/\($0)" }
    let message = try BatchGetRequestWire.bytes(of: BatchGetDocumentsRequest(database: database, documents: names))
    let head: [UInt8] = [0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: message.count >> $0) }
    let request = HTTPRequest(
      .post, "/google.firestore.v1.Firestore/BatchGetDocuments", authority: "h",
      fields: [.contentType: "application/grpc"], body: .bytes(head + message))
    guard case .task(let work) = FirestoreEndpoints(tuning: tuning).handler(in: host).reply(to: request) else {
      throw ServiceStatus(.internal, "the call has not begun")
    }
    let stream = try await work().body.stream
    var count = 0
    while try await stream.next() != nil { count += 1 }
    return count
  }

  @Test func `small responses leave together, large ones each by itself`() async throws {
    #expect(try await pieces(batchBytes: 32_768) == 1)
    #expect(try await pieces(batchBytes: 1) == 50)
  }
}
