import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// Requests and responses that would hold the loop of a connection for long.
@Suite(.timeLimit(.minutes(10))) struct LargeRequestTests {
  private let host: FakeEndpointHost
  private let root = "/v1/projects/demo/databases/(default)/documents"

  init() {
    host = FakeEndpointHost(project: "demo")
    host.add((any FirestoreBackend).self, ReferenceBackend())
  }

  @Test func `a large request is served apart from the loop of its connection, over both wires`() async throws {
    let executor = CountingExecutor()
    let places = await Task(executorPreference: executor) {
      let onLoop = await served(10, upTo: 10) { CountingExecutor.isCurrent }
      return [onLoop, await served(11, upTo: 10) { CountingExecutor.isCurrent }, CountingExecutor.isCurrent]
    }.value
    #expect(places == [true, false, true])
    let name = "projects/demo/databases/(default)/documents/a/b"
    let json = #"{"writes":[{"update":{"name":"\#(name)","fields":{}}}]}"#
    let commit = try CommitRequestWire.bytes(
      of: CommitRequest(
        database: "projects/demo/databases/(default)", writes: [.update(Document(name: name, fields: [:]))]))
    let rest = HTTPRequest(.post, "\(root):commit", authority: "h", body: .text(json))
    let grpc = HTTPRequest(
      .post, "/google.firestore.v1.Firestore/Commit", authority: "h", fields: ["content-type": "application/grpc"],
      body: .bytes([0, 0, 0, 0, UInt8(commit.count)] + commit))
    for request in [rest, grpc] {
      func turns(_ loopBytes: Int) async throws -> Int {
        var tuning = FirestoreEndpointTuning()
        tuning.loopBytes = loopBytes
        let handler = FirestoreEndpoints(tuning: tuning).handler(in: host)
        let executor = CountingExecutor()
        try await withTaskExecutorPreference(executor) {
          guard case .task(let work) = handler.reply(to: request) else { throw ServiceStatus(.internal, "no task") }
          let response = try await work()
          #expect(response.status == .ok && response.trailers.first("grpc-message") == nil)
        }
        return executor.turns.withLock { $0 }
      }
      let (apart, inPlace) = (try await turns(10), try await turns(1 << 20))
      #expect(apart > inPlace, "\(apart) and \(inPlace)")
    }
  }

  /// Carries a call, and notes which messages are read and which batches are written on the loop.
  private struct Service: GRPCService {
    let host: FakeEndpointHost
    let loop = CountingExecutor()
    let log = Log<String>()

    func method(at path: String) -> GRPCMethod? {
      var tuning = FirestoreEndpointTuning()
      tuning.loopBytes = 100
      tuning.loopResponses = 2
      tuning.inPlaceResponses = 1
      let form = MessageForm<ListenResponse?>.schema(ListenResponseWire.self)
      let requests = MessageForm<ListenStreamRequest>.schema(ListenRequestWire.self)
      let noted = MessageForm<ListenStreamRequest>(
        read: { (bytes) throws(BytesError) in
          log.add("read \(bytes.count > 100), on the loop \(CountingExecutor.isCurrent)")
          return try requests.read(bytes)
        }, readJSON: requests.readJSON, write: requests.write, writeJSON: requests.writeJSON)
      let placement = GRPCPlacement(begin: { loop }, end: {})
      return .stream(placement: placement) { [tuning] call, stream in
        let duplex = DuplexForm<ListenStreamRequest, ListenRequest, ListenResponse>(
          requests: noted, database: \.database, request: \.request,
          responses: { batch in
            log.add("written \(batch.count), on the loop \(CountingExecutor.isCurrent)")
            return GRPCFrames(try batch.map(form.write))
          })
        try await carry(host, call, stream, tuning, duplex) { _, _, _ in answers(of: [2, 3, 2]) }
      }
    }

    private func answers(of counts: [Int]) -> DuplexCall<ListenRequest, ListenResponse> {
      let document = Document(name: "projects/demo/databases/d/documents/a/b", fields: [:])
      let response = ListenResponse.documentChange(DocumentChange(document: document, targetIDs: [1]))
      let left = Locked(counts)
      return DuplexCall(
        responses: AsyncThrowingStream {
          left.withLock { $0.isEmpty ? nil : $0.removeFirst() }.map { Array(repeating: response, count: $0) }
        }, send: { _ in }, finish: {}, cancel: {})
    }
  }

  @Test(arguments: [false, true])
  func `a stream reads a large first message and writes many responses apart from its loop`(
    isLarge: Bool
  ) async throws {
    let (service, body) = (Service(host: host), ByteStream())
    let name = "projects/demo/databases/d" + String(repeating: "d", count: isLarge ? 100 : 0)
    let first = try MessageForm.schema(ListenRequestWire.self).write(ListenStreamRequest(database: name, nil))
    body.offer([0, 0, 0, 0, UInt8(first.count)] + first)
    let request = HTTPRequest(
      .post, "/google.firestore.v1.Firestore/Listen", authority: "h", fields: [.contentType: "application/grpc"],
      body: .stream(body))
    guard case .task(let work) = GRPCHandler(service).reply(to: request) else {
      Issue.record("the call has not begun")
      return
    }
    let responses = try await work().body.stream
    while try await responses.next() != nil {}
    #expect(
      service.log.entries == [
        "read \(isLarge), on the loop \(!isLarge)", "written 2, on the loop true", "written 3, on the loop false",
        "written 2, on the loop true",
      ])
  }

  @Test func `a large POST to a channel is read apart from the loop of its connection`() async throws {
    func isInPlace(_ loopBytes: Int) async throws -> Bool {
      var tuning = FirestoreEndpointTuning()
      tuning.loopBytes = loopBytes
      let handler = FirestoreEndpoints(tuning: tuning).handler(in: host)
      let target = "/google.firestore.v1.Firestore/Write/channel?VER=8&RID=1&database=projects/demo/databases/d"
      let request = HTTPRequest(.post, target, authority: "h", body: .text("count=0&ofs=0"))
      switch handler.reply(to: request) {
      case .response(let response):
        #expect(response.status == .ok)
        return true
      case .task(let work):
        #expect(try await work().status == .ok)
        return false
      case .webSocket: throw ServiceStatus(.internal, "a socket was opened")
      }
    }
    #expect(try await isInPlace(100))
    #expect(try await !isInPlace(10))
  }

  /// A browser whose connection ends while its large message is read sends the rest on another one.
  @Test func `messages of a channel are taken in their order, however long one of them takes`() async throws {
    let (isTaking, mayEnd, taken) = (Gate(), Gate(), Log<String>())
    let session = WebChannelSession(.system, FirestoreEndpointTuning()) { text in
      if text == "first" {
        isTaking.open()
        #expect(mayEnd.passes())
      }
      taken.add(text)
      return nil
    } waitingBytes: {
      0
    } onGone: { _ in
    }
    _ = try session.open(WebChannelBody())
    let first = Task {
      await TestThreads.run {
        #expect(throws: Never.self) {
          try session.forward(WebChannelBody(messages: [.init(0, "first")]), confirmed: 0)
        }
      }
    }
    await isTaking.wait()
    let again = WebChannelBody(messages: [.init(0, "first"), .init(1, "second")])
    _ = try session.forward(again, confirmed: 0)
    #expect(taken.entries == [])
    mayEnd.open()
    await first.value
    #expect(taken.entries == ["first", "second"])
    session.terminate()
  }
}

/// Counts its turns, and knows its threads.
final class CountingExecutor: TaskExecutor {
  private static let mark = "CountingExecutor"
  let turns = Locked(0)

  /// Whether the thread is one of its turns.
  static var isCurrent: Bool { Thread.current.threadDictionary[mark] != nil }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    turns.withLock { $0 += 1 }
    DispatchQueue.global().async {
      Thread.current.threadDictionary[Self.mark] = true
      job.runSynchronously(on: self.asUnownedTaskExecutor())
      Thread.current.threadDictionary[Self.mark] = nil
    }
  }
}
