import Foundation
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Damaged input for every decoder: 10^6 in the tests, 10^8 with `VESTA_SOAK=1`, by seeds from `VESTA_SEED` on.
///
/// A decoder neither stops nor keeps more than its limits, and reads the same wherever its input was cut.
@Suite(.timeLimit(.minutes(600))) struct DecoderSoakTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let factor = environment["VESTA_SOAK"] == "1" ? 100 : 1
  private static let firstSeed = environment["VESTA_SEED"].flatMap { UInt64($0) } ?? 1

  private static let marks = Array("\r\n :;,=0aFz\t\"%/\u{0}\u{7F}".utf8)

  /// A model with up to five changes, or noise.
  private func damaged(_ models: [[UInt8]], _ random: inout SplitMix) -> [UInt8] {
    var bytes = random.oneIn(8) ? random.bytes(random.below(60)) : random.pick(models)
    for _ in 0..<random.below(6) where !bytes.isEmpty {
      let place = random.below(bytes.count)
      switch random.below(5) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(random.pick(Self.marks), at: place)
      case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + random.below(12))], at: place)
      default: bytes.removeLast(bytes.count - place)
      }
    }
    return bytes
  }

  /// The input in up to four pieces.
  private func cut(_ bytes: [UInt8], _ random: inout SplitMix) -> [[UInt8]] {
    var cuts = (0..<random.below(4)).map { _ in random.below(bytes.count + 1) } + [0, bytes.count]
    cuts.sort()
    return zip(cuts, cuts.dropFirst()).map { Array(bytes[$0..<$1]) }
  }

  private func repeats(_ count: Int, _ stream: UInt64, _ body: (inout SplitMix, Int) -> Void) {
    var random = SplitMix(seed: Self.firstSeed &+ stream)
    for index in 0..<count * Self.factor { body(&random, index) }
  }

  private static let requests = [
    "GET /a?b=c HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n", "GET http://h:80/ HTTP/1.0\r\nconnection: keep-alive\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n0\r\na: b\r\n\r\n",
    "PUT /x HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\nhelloGET / HTTP/1.1\r\nhost: h\r\n\r\n",
  ].map { Array($0.utf8) }

  @Test func `damaged requests are read alike, however they are cut`() {
    var tuning = TransportTuning()
    (tuning.headBytes, tuning.fieldCount, tuning.targetBytes, tuning.chunkLineBytes) = (200, 5, 40, 20)
    repeats(250_000, 1) { random, index in
      let bytes = damaged(Self.requests, &random) + Array("\r\n\r\n".utf8)
      let whole = VestaTransportTests.requests([bytes], tuning)
      guard index % 8 == 0 else { return }
      let pieces = cut(bytes, &random)
      #expect(VestaTransportTests.requests(pieces, tuning) == whole, "\(index): \(pieces)")
    }
  }

  private static let responses = [
    "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", "HTTP/1.1 204 No Content\r\nx: y\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    "HTTP/1.0 404 Not Found\r\nconnection: close\r\n\r\nuntil the end",
  ].map { Array($0.utf8) }

  @Test func `damaged responses are read alike, however they are cut`() {
    repeats(250_000, 2) { random, index in
      let bytes = damaged(Self.responses, &random) + Array("\r\n\r\n".utf8)
      let methods: [HTTPMethod] = random.oneIn(4) ? [.head, .get] : [.get, .post]
      let whole = VestaTransportTests.responses([bytes], to: methods)
      guard index % 8 == 0 else { return }
      let pieces = cut(bytes, &random)
      #expect(VestaTransportTests.responses(pieces, to: methods) == whole, "\(index): \(pieces)")
    }
  }

  @Test func `damaged frames of WebSockets never stop the machine, and keep no more than a message`() {
    let models: [[UInt8]] = [
      [0x81, 0x85, 1, 2, 3, 4, 0x69, 0x67, 0x6F, 0x68, 0x6E],
      [0x01, 0x82, 0, 0, 0, 0, 65, 66, 0x80, 0x81, 0, 0, 0, 0, 67],
      [0x89, 0x81, 0, 0, 0, 0, 7, 0x88, 0x82, 0, 0, 0, 0, 3, 0xE8],
      [0x82, 0xFE, 0, 126, 9, 9, 9, 9] + [UInt8](repeating: 1, count: 126),
    ]
    repeats(300_000, 3) { random, _ in
      let bytes = damaged(models, &random)
      var machine = FrameMachine(random.oneIn(4) ? .client : .server, messageLimit: 100)
      for piece in cut(bytes, &random) {
        do throws(FrameMachine.Failure) {
          let events = try piece.withUnsafeBufferPointer { bytes throws(FrameMachine.Failure) in
            try machine.feed(bytes)
          }
          for case .message(let message) in events { #expect(message.byteCount <= 100) }
        } catch {
          break
        }
      }
    }
  }

  @Test func `damaged gzip is an error or within the limit`() throws {
    let models = try [[], [1], [UInt8](repeating: 7, count: 5_000), Array("some text, and some text again".utf8)].map {
      try Gzip.compress($0)
    }
    repeats(100_000, 4) { random, _ in
      let bytes = damaged(models, &random)
      let limit = random.pick([0, 10, 6_000])
      if let made = try? Gzip.decompress(bytes, limit: limit, piece: 64 + random.below(1_000)) {
        #expect(made.count <= limit)
      }
    }
  }

  @Test func `damaged frames of HTTP 2 never stop a session, nor does its queue grow`() {
    var session = HTTP2Session(.server, TransportTuning(), now: 0)
    let head = HTTP2Frame.get(1, "/a", ends: false).bytes
    let models =
      [
        HTTP2Frame.settings([(3, 5), (4, 100)]), HTTP2Frame(.ping, 0, on: 0, [UInt8](repeating: 1, count: 8)),
        .window(0, 100), .reset(1), HTTP2Frame(.data, 1, on: 1, [1, 2, 3]),
        HTTP2Frame(.goAway, 0, on: 0, [UInt8](repeating: 0, count: 8)),
      ].map(\.bytes) + [head, head + HTTP2Frame(.continuation, 4, on: 1, []).bytes]
    repeats(100_000, 5) { random, index in
      if session.isOver || index % 20 == 0 {
        session = HTTP2Session(.server, TransportTuning(), now: 0)
        let preface = HTTP2Preface.bytes + HTTP2Frame.settings().bytes
        _ = preface.withUnsafeBufferPointer { session.receive($0) }
      }
      let isOpen = damaged(models, &random).withUnsafeBufferPointer { session.receive($0) }
      session.events = []
      var out: [UInt8] = []
      if !session.produce(into: &out, limit: 100_000) || !isOpen {
        session = HTTP2Session(.server, TransportTuning(), now: 0)
      }
      #expect(session.queuedFrames <= 2_000)
    }
  }
}
