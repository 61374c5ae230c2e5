import Testing
import VestaFirestoreBackend
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// A Listen call whose caller reads no responses.
@Suite(.timeLimit(.minutes(10))) struct BrokenStreamTests {
  /// Carries a call of an engine that has responses without end.
  private struct Service: GRPCService {
    let host: FakeEndpointHost
    let sent = Log<Int>()
    let ended = Log<Void>()

    func method(at path: String) -> GRPCMethod? {
      .stream { call, stream in
        defer { ended.add(()) }
        let written = MessageForm<ListenResponse?>.schema(ListenResponseWire.self)
        let form = DuplexForm<ListenStreamRequest, ListenRequest, ListenResponse>(
          requests: .schema(ListenRequestWire.self), database: \.database, request: \.request,
          responses: { GRPCFrames(try $0.map(written.write)) })
        try await carry(host, call, stream, FirestoreEndpointTuning(), form) { _, _, _ in endless() }
      }
    }

    private func endless() -> DuplexCall<ListenRequest, ListenResponse> {
      let document = Document(
        name: "projects/demo/databases/d/documents/a/b",
        fields: ["text": .string(String(repeating: "x", count: 10_000))])
      let over = Log<Void>()
      return DuplexCall(
        responses: AsyncThrowingStream {
          sent.add(1)
          return !over.entries.isEmpty ? nil : [.documentChange(DocumentChange(document: document, targetIDs: [1]))]
        }, send: { _ in }, finish: {}, cancel: { over.add(()) })
    }
  }

  private func frame(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, 0, UInt8(bytes.count)] + bytes }

  @Test func `a message that cannot be read ends the call, also when its caller reads no responses`() async throws {
    let host = FakeEndpointHost(project: "demo")
    host.add((any FirestoreBackend).self, ReferenceBackend())
    let (service, body) = (Service(host: host), ByteStream())
    let first = ListenStreamRequest(database: "projects/demo/databases/d", nil)
    body.offer(frame(try MessageForm.schema(ListenRequestWire.self).write(first)))
    let request = HTTPRequest(
      .post, "/google.firestore.v1.Firestore/Listen", authority: "h", fields: [.contentType: "application/grpc"],
      body: .stream(body))
    guard case .task(let work) = GRPCHandler(service).reply(to: request) else {
      Issue.record("the call has not begun")
      return
    }
    let response = try await work()
    // More than waits to be read: the call waits for its caller.
    await service.sent.wait { $0.count > 6 }
    body.offer(frame([0xFF, 0xFF]))
    await service.ended.wait { !$0.isEmpty }
    let responses = response.body.stream
    while try await responses.next() != nil {}
    #expect(responses.trailers.first("grpc-status") == "3")
  }
}
