import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite struct FieldLineTests {
  @Test func `spaces and tabs around a value are no part of it, those within are`() throws {
    let lines = "host: h\r\na:\t 1\t\r\nb:2 \t \r\nc: 3\t4\r\nd: \t\r\n"
    guard case .head(let head)? = try requests("GET / HTTP/1.1\r\n\(lines)\r\n").first else {
      Issue.record("no head")
      return
    }
    #expect(head.fields == ["a": "1", "b": "2", "c": "3\t4", "d": ""])
  }

  @Test func `the limit of trailers is for them alone, wherever they are`() throws {
    var tuning = TransportTuning()
    tuning.headBytes = 64
    let request = "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n"
    #expect(try requests(request + "x: 1\r\n\r\n", tuning).last == .end(["x": "1"]))
    let long = "x: \(String(repeating: "1", count: 64))\r\n\r\n"
    guard case .failure(let failure)? = try requests(request + long, tuning).last else {
      Issue.record("not refused")
      return
    }
    #expect(failure.status == 431)
  }
}
