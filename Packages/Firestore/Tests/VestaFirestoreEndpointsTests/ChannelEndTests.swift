import Testing
import VestaBytes
import VestaFirestoreWire
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop

@testable import VestaFirestoreEndpoints

/// The end of a WebChannel, and the requests of its browser.
@Suite struct ChannelEndTests {
  private let gone = Log<String>()

  private func open(
    waitingBytes: Int = 0, _ tuning: FirestoreEndpointTuning = FirestoreEndpointTuning()
  ) throws -> WebChannelSession {
    let session = WebChannelSession(
      ManualClock().service, tuning, take: { _ in nil }, waitingBytes: { waitingBytes },
      onGone: { [gone] in gone.add($0.id) })
    _ = try session.open(WebChannelBody())
    return session
  }

  /// The text that has arrived in a back channel, and whether the channel has ended.
  private func read(_ stream: ByteStream?) throws -> (text: String, hasEnded: Bool) {
    let stream = try #require(stream)
    var bytes: [UInt8] = []
    while true {
      switch stream.pipe.take() {
      case .element(let more): bytes += more
      case .nothingYet: return (String(decoding: bytes, as: UTF8.self), false)
      case .ended: return (String(decoding: bytes, as: UTF8.self), true)
      }
    }
  }

  @Test func `the request that waits ends with the session, and nothing waits for room then`() throws {
    let session = try open(waitingBytes: .max)
    let waiting = try session.back(.streaming, confirmed: 0)
    #expect(try !read(waiting).hasEnded && session.isCrowded)
    session.terminate()
    #expect(try read(waiting).hasEnded && !session.isCrowded && gone.entries == [session.id])
  }

  @Test func `a failure ends the request that waits, and what is said later does not hide it`() throws {
    let session = try open()
    let waiting = try session.back(.streaming, confirmed: 0)
    session.fail(ServiceStatus(.notFound, "no such database"))
    let (text, hasEnded) = try read(waiting)
    #expect(hasEnded && text.contains("NOT_FOUND"))
    session.send([["late": true]])
    #expect(gone.entries.isEmpty)
    // The browser has lost the response, and asks again.
    let again = try read(session.back(.streaming, confirmed: 0))
    #expect(again.text.contains("NOT_FOUND") && !again.text.contains("late"))
  }

  @Test func `a browser that confirms nothing loses its session, and not a message of it`() throws {
    var tuning = FirestoreEndpointTuning()
    tuning.webChannel.maximumUnconfirmedBytes = 2_000
    let session = try open(tuning)
    let waiting = try session.back(.streaming, confirmed: 0)
    for number in 0..<5 { session.send([["number": .integer(Int64(number))]]) }
    #expect(gone.entries.isEmpty)
    session.send([["text": .string(String(repeating: "x", count: 2_000))]])
    #expect(gone.entries == [session.id])
    session.send([["number": 6]])
    let (text, hasEnded) = try read(waiting)
    #expect(hasEnded && text.contains(#""number":4"#) && !text.contains(#""number":6"#))
  }
}
