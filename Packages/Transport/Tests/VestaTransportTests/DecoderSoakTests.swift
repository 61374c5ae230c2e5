import Foundation
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Damaged input for every decoder: 10^6 in the tests, and in a soak as many as its time allows, a thousand for each
/// seed.
///
/// A decoder neither stops nor keeps more than its limits, and reads the same wherever its input was cut. A soak prints
/// how many seeds it has run; the next one continues with `VESTA_SEED`, so that 10^8 inputs, seeds 1 to 100,000, may
/// have several parts.
@Suite(.timeLimit(.minutes(600))) struct DecoderSoakTests {
  /// A decoder, and how many of a thousand inputs it gets.
  enum Decoder: Int, CaseIterable {
    case requests = 250
    case responses = 251
    case frames = 300
    case gzip = 100
    case http2 = 99

    /// Feeds the decoder the damaged inputs of a seed.
    func run(seed: UInt64) throws {
      var random = SplitMix(seed: seed &* 8 &+ UInt64(rawValue))
      switch self {
      case .requests: for index in 0..<rawValue { DecoderSoakTests.readRequests(&random, "\(seed) \(index)") }
      case .responses: for index in 0..<rawValue { DecoderSoakTests.readResponses(&random, "\(seed) \(index)") }
      case .frames: for index in 0..<rawValue { DecoderSoakTests.readFrames(&random, "\(seed) \(index)") }
      case .gzip: for index in 0..<rawValue { DecoderSoakTests.readGzip(&random, "\(seed) \(index)") }
      case .http2: DecoderSoakTests.readHTTP2(&random, count: rawValue, "\(seed)")
      }
    }
  }

  @Test(arguments: Decoder.allCases)
  func `damaged input neither stops a decoder nor passes its limits, however it is cut`(decoder: Decoder) async throws {
    for seed in UInt64(1)...1_000 {
      try decoder.run(seed: seed)
      // The servers and clients of other tests share the few threads of tasks.
      await Task.yield()
    }
  }

  @Test(.enabled(if: Soak.isAsked)) func `damaged input of many seeds stops no decoder`() async throws {
    try await Soak("Decoders").run { seed, _ in for decoder in Decoder.allCases { try decoder.run(seed: seed) } }
  }

  /// Cheaper than an expectation, of which there would be millions.
  private static func check(_ isKept: Bool, _ place: @autoclosure () -> String) {
    if !isKept { Issue.record("\(place())") }
  }

  private static let marks = Array("\r\n :;,=0aFz\t\"%/\u{0}\u{7F}".utf8)

  /// A model with up to five changes, or noise.
  private static func damaged(_ models: [[UInt8]], _ random: inout SplitMix) -> [UInt8] {
    var bytes = random.oneIn(8) ? random.bytes(random.below(60)) : random.pick(models)
    for _ in 0..<random.below(6) where !bytes.isEmpty {
      let place = random.below(bytes.count)
      switch random.below(5) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(random.pick(marks), at: place)
      case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + random.below(12))], at: place)
      default: bytes.removeLast(bytes.count - place)
      }
    }
    return bytes
  }

  /// The input in up to four pieces.
  private static func cut(_ bytes: [UInt8], _ random: inout SplitMix) -> [[UInt8]] {
    var cuts = (0..<random.below(4)).map { _ in random.below(bytes.count + 1) } + [0, bytes.count]
    cuts.sort()
    return zip(cuts, cuts.dropFirst()).map { Array(bytes[$0..<$1]) }
  }

  private static let requests = [
    "GET /a?b=c HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n", "GET http://h:80/ HTTP/1.0\r\nconnection: keep-alive\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n0\r\na: b\r\n\r\n",
    "PUT /x HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\nhelloGET / HTTP/1.1\r\nhost: h\r\n\r\n",
  ].map { Array($0.utf8) }

  private static let smallTuning: TransportTuning = {
    var tuning = TransportTuning()
    (tuning.headBytes, tuning.fieldCount, tuning.targetBytes, tuning.chunkLineBytes) = (200, 5, 40, 20)
    return tuning
  }()

  private static func readRequests(_ random: inout SplitMix, _ place: String) {
    let bytes = damaged(requests, &random) + Array("\r\n\r\n".utf8)
    let whole = VestaTransportTests.requests([bytes], smallTuning)
    guard random.oneIn(8) else { return }
    let pieces = cut(bytes, &random)
    check(VestaTransportTests.requests(pieces, smallTuning) == whole, "request \(place): \(pieces)")
  }

  private static let responses = [
    "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", "HTTP/1.1 204 No Content\r\nx: y\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    "HTTP/1.0 404 Not Found\r\nconnection: close\r\n\r\nuntil the end",
  ].map { Array($0.utf8) }

  private static func readResponses(_ random: inout SplitMix, _ place: String) {
    let bytes = damaged(responses, &random) + Array("\r\n\r\n".utf8)
    let methods: [HTTPMethod] = random.oneIn(4) ? [.head, .get] : [.get, .post]
    let whole = VestaTransportTests.responses([bytes], to: methods)
    guard random.oneIn(8) else { return }
    let pieces = cut(bytes, &random)
    check(VestaTransportTests.responses(pieces, to: methods) == whole, "response \(place): \(pieces)")
  }

  private static let frames: [[UInt8]] = [
    [0x81, 0x85, 1, 2, 3, 4, 0x69, 0x67, 0x6F, 0x68, 0x6E],
    [0x01, 0x82, 0, 0, 0, 0, 65, 66, 0x80, 0x81, 0, 0, 0, 0, 67],
    [0x89, 0x81, 0, 0, 0, 0, 7, 0x88, 0x82, 0, 0, 0, 0, 3, 0xE8],
    [0x82, 0xFE, 0, 126, 9, 9, 9, 9] + [UInt8](repeating: 1, count: 126),
  ]

  private static func readFrames(_ random: inout SplitMix, _ place: String) {
    let bytes = damaged(frames, &random)
    var machine = FrameMachine(random.oneIn(4) ? .client : .server, messageLimit: 100)
    for piece in cut(bytes, &random) {
      let events = piece.withUnsafeBufferPointer { machine.feed($0) }
      for case .message(let message) in events { check(message.byteCount <= 100, "frame \(place): \(bytes)") }
    }
  }

  private static let gzipped = [
    [], [1], [UInt8](repeating: 7, count: 5_000), Array("some text, and some text again".utf8),
  ]
  .compactMap { try? Gzip.compress($0) }

  private static func readGzip(_ random: inout SplitMix, _ place: String) {
    let bytes = damaged(gzipped, &random)
    let limit = random.pick([0, 10, 6_000])
    guard let made = try? Gzip.decompress(bytes, limit: limit, piece: 64 + random.below(1_000)) else { return }
    check(made.count <= limit, "gzip \(place): \(bytes)")
  }

  private static let http2Frames: [[UInt8]] = {
    let head = HTTP2Frame.get(1, "/a", ends: false).bytes
    let others = [
      HTTP2Frame.settings([(3, 5), (4, 100)]), HTTP2Frame(.ping, 0, on: 0, [UInt8](repeating: 1, count: 8)),
      .window(0, 100), .reset(1), HTTP2Frame(.data, 1, on: 1, [1, 2, 3]),
      HTTP2Frame(.goAway, 0, on: 0, [UInt8](repeating: 0, count: 8)),
    ]
    return others.map(\.bytes) + [head, head + HTTP2Frame(.continuation, 4, on: 1, []).bytes]
  }()

  private static func readHTTP2(_ random: inout SplitMix, count: Int, _ place: String) {
    var session = HTTP2Session(.server, TransportTuning(), now: 0)
    for index in 0..<count {
      if session.isOver || index % 20 == 0 {
        session = HTTP2Session(.server, TransportTuning(), now: 0)
        let preface = HTTP2Preface.bytes + HTTP2Frame.settings().bytes
        _ = preface.withUnsafeBufferPointer { session.receive($0) }
      }
      let isOpen = damaged(http2Frames, &random).withUnsafeBufferPointer { session.receive($0) }
      session.events = []
      var out: [UInt8] = []
      if !session.produce(into: &out, limit: 100_000) || !isOpen {
        session = HTTP2Session(.server, TransportTuning(), now: 0)
      }
      check(session.queuedFrames <= 2_000, "http2 \(place) \(index)")
    }
  }
}
