import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// A request of ``TurnHandler``, by its target: what is answered, and after how many further jobs of the loop.
struct TurnRequest: Equatable {
  enum Kind: String, CaseIterable {
    case bytes, stream, empty, noContent, notModified, throwing, interim, failing
    /// Ends the connection from within the turn.
    case abort, close
  }

  var round: Int
  var kind: Kind
  var number: Int
  var size: Int
  var yields: Int
  var hasTrailers: Bool
  var isHead = false

  var target: String { "/\(round)/\(kind.rawValue)/\(number)/\(size)/\(yields)/\(hasTrailers)" }

  init(_ round: Int, _ kind: Kind, _ number: Int, _ random: inout SplitMix) {
    (self.round, self.kind, self.number) = (round, kind, number)
    size = random.below(random.pick([3, 1_000, 20_000, 70_000]))
    yields = random.oneIn(3) ? random.below(4) : 0
    hasTrailers = random.oneIn(2)
    isHead = random.oneIn(6)
  }

  init?(_ target: String) {
    let parts = target.split(separator: "/")
    guard parts.count == 6, let round = Int(parts[0]), let kind = Kind(rawValue: String(parts[1])),
      let number = Int(parts[2]), let size = Int(parts[3]), let yields = Int(parts[4])
    else { return nil }
    (self.round, self.kind, self.number, self.size, self.yields) = (round, kind, number, size, yields)
    hasTrailers = parts[5] == "true"
  }

  /// Bytes that no other request has.
  var body: [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ number &* 7 &+ round &* 101) }
  }

  var trailers: HTTPFields { hasTrailers ? ["number": "\(round)-\(number)"] : [:] }

  /// The fault of an answer that has ended; `nil` for none.
  func fault(_ answer: TurnPeer.Answer) -> String? {
    let isWhole = answer.code == .noError
    switch kind {
    case .bytes, .stream:
      let sent = isHead ? [] : body
      let expected = isHead ? [:] : trailers
      if !isWhole || answer.status != 200 || answer.body != sent { return "is not whole" }
      return answer.trailers["number"] == expected["number"] ? nil : "has other trailers"
    case .empty: return isWhole && answer.status == 200 && answer.body.isEmpty ? nil : "is not empty"
    case .noContent: return isWhole && answer.status == 204 && answer.body.isEmpty ? nil : "is no 204"
    case .notModified: return isWhole && answer.status == 304 && answer.body.isEmpty ? nil : "is no 304"
    case .throwing, .interim: return isWhole && answer.status == 500 ? nil : "is no 500"
    case .failing:
      if isHead { return isWhole ? nil : "is not whole" }
      return !isWhole && body.starts(with: answer.body) ? nil : "has failed and seems whole"
    case .abort, .close: return "was answered"
    }
  }

  /// The fault of an answer that was cut off; `nil` for none.
  func faultOfBeginning(_ answer: TurnPeer.Answer) -> String? {
    body.starts(with: answer.body) ? nil : "begins with other bytes"
  }
}

/// Answers in one turn of the loop: tasks wait at a gate for each round, which opens on the loop or elsewhere.
final class TurnHandler: HTTPHandler {
  private let gates = Locked<[Int: Gate]>([:])
  /// The writers of bodies that have begun and that have ended, and how many responses had a stream.
  let ended = Log<Int>()
  let begun = Locked(0)
  let loop = Locked<EventLoop?>(nil)

  func gate(_ round: Int) -> Gate {
    gates.withLock { gates in
      if let gate = gates[round] { return gate }
      let gate = Gate()
      gates[round] = gate
      return gate
    }
  }

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: 100) }

  func reply(to request: HTTPRequest) -> HTTPReply {
    if let loop = request.peer?.executor as? EventLoop { self.loop.withLock { $0 = loop } }
    guard let wanted = TurnRequest(request.target) else {
      if let round = Int(request.target.dropFirst(4)) { gate(round).open() }
      return .response(HTTPResponse(body: .text(request.target)))
    }
    let gate = gate(wanted.round)
    let loop = self.loop.withLock { $0 }
    return .task {
      await gate.wait()
      for _ in 0..<wanted.yields { await Task.yield() }
      if wanted.kind == .abort || wanted.kind == .close { loop?.endConnections(wanted.kind == .abort) }
      return try self.answer(wanted)
    }
  }

  private func answer(_ wanted: TurnRequest) throws -> HTTPResponse {
    switch wanted.kind {
    case .bytes: HTTPResponse(body: .bytes(wanted.body), trailers: wanted.trailers)
    case .stream, .failing: HTTPResponse(body: .stream(written(wanted), length: nil))
    case .empty, .abort, .close: HTTPResponse()
    case .noContent: HTTPResponse(204, body: .bytes(wanted.body), trailers: wanted.trailers)
    case .notModified: HTTPResponse(304, body: .stream(written(wanted), length: wanted.size))
    case .throwing: throw TransportError(.closed, "thrown")
    case .interim: HTTPResponse(HTTPStatus(100), body: .stream(written(wanted), length: nil))
    }
  }

  /// A body that a separate task writes until it is whole or has no reader.
  private func written(_ wanted: TurnRequest) -> ByteStream {
    let stream = ByteStream(limit: 1 + wanted.number % 3 * 1_000)
    begun.withLock { $0 += 1 }
    Task { [ended] in
      defer { ended.add(wanted.number) }
      var rest = wanted.body[...]
      while !rest.isEmpty {
        let count = min(rest.count, 1 + wanted.size / 7)
        do { try await stream.write(Array(rest.prefix(count))) } catch { return }
        rest = rest.dropFirst(count)
      }
      if wanted.kind == .failing {
        stream.fail(TransportError(.closed, "failed"))
      } else {
        stream.finish(trailers: wanted.trailers)
      }
    }
    return stream
  }
}

extension EventLoop {
  /// Ends all connections of servers, on the loop.
  func endConnections(_ aborts: Bool) {
    forEachChannel { channel in
      guard let connection = channel as? ServerConnection else { return }
      if aborts { connection.abort() } else { connection.close(lingers: true) }
    }
  }

  /// The leftovers of its connections of HTTP/2: a task, a stream or a frame that waits.
  func rests() async -> [String] {
    await withCheckedContinuation { continuation in
      perform {
        var rests: [String] = []
        self.forEachChannel { channel in
          guard let connection = channel as? ServerConnection, case .http2(let http2) = connection.phase else { return }
          if http2.session.streams.count + http2.runningTasks + http2.session.queuedFrames > 0 {
            rests.append("\(http2.session.streams.count) streams, \(http2.runningTasks) tasks")
          }
        }
        continuation.resume(returning: rests)
      }
    }
  }
}
