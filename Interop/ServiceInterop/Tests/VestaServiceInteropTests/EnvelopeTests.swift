import Testing
import VestaBytes
import VestaTesting

@testable import VestaServiceInterop

/// A failure as a body of HTTP, and back.
@Suite struct EnvelopeTests {
  @Test(arguments: ServiceCode.allCases)
  func `a failure is read as it was written, with its details`(code: ServiceCode) throws {
    let status = ServiceStatus(
      code, "why",
      details: [
        .retryInfo(after: .milliseconds(1_500)),
        .errorInfo(reason: "DISK_FULL", domain: "store", metadata: ["b": "2", "a": "1"]),
        .badRequest(field: "a.b", description: "no"), .badRequest(field: "c", description: "nor this"),
        .help(url: "https://vesta.example", description: "more"),
      ])
    let body = try status.envelope().object.json()
    #expect(ServiceStatus(httpStatus: 418, body: body) == status)
    #expect(ErrorEnvelope(json: body)?.code == code.httpStatus)
  }

  @Test func `without a name the status of HTTP counts`() {
    for body in ["", "<html>", "{}", "[]", #"{"error":"text"}"#, #"{"error":{"status":"NONE"}}"#] {
      #expect(ServiceStatus(httpStatus: 404, body: Array(body.utf8)).code == .notFound, "\(body)")
    }
    #expect(ServiceStatus(httpStatus: 502, body: []).code == .unavailable)
    #expect(ServiceStatus(httpStatus: 404, body: Array(#"{"error":"text"}"#.utf8)).message == "text")
  }

  @Test func `a pause is that of the body, then that of the field`() throws {
    let body = try ServiceStatus(.unavailable, "", details: [.retryInfo(after: .seconds(3))]).envelope().object.json()
    #expect(ServiceStatus(httpStatus: 503, body: body, retryAfter: "9").retryAfter == .seconds(3))
    #expect(ServiceStatus(httpStatus: 503, body: [], retryAfter: "9").retryAfter == .seconds(9))
    for text in ["", "-1", "soon", "99999999999999999999", "Mon, 23 Nov 2026 00:00:00 GMT"] {
      #expect(ServiceStatus(httpStatus: 503, body: [], retryAfter: text).retryAfter == nil)
    }
  }

  @Test func `damaged bodies are failures by their status`() throws {
    var random = SplitMix(seed: 77)
    let details: [ErrorDetail] = [
      .retryInfo(after: .seconds(1)), .help(url: "u"), .badRequest(field: "f", description: ""),
    ]
    let body = try ServiceStatus(.aborted, "m", details: details).envelope().object.json()
    for _ in 0..<20_000 {
      var damaged = body
      for _ in 0...random.below(4) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
      damaged = Array(damaged.prefix(random.oneIn(3) ? random.below(damaged.count) : damaged.count))
      _ = ServiceStatus(httpStatus: 409, body: damaged)
    }
  }

  @Test func `a wait that cannot be kept is left out, and a long one is cut`() throws {
    // The largest seconds and nanoseconds, and a field that is not known.
    let duration: [UInt8] =
      [0x08] + [UInt8](repeating: 0xFF, count: 8) + [0x7F, 0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0x18, 0x01]
    for bytes in [duration, Array(duration.prefix(10)), duration + duration] {
      let info = ProtobufAny(
        typeURL: "type.googleapis.com/google.rpc.RetryInfo", value: [0x0A, UInt8(bytes.count)] + bytes)
      let status = ServiceStatus(ProtobufStatus(code: 14, message: "m", details: [info, info]))
      #expect(status.code == .unavailable && status.retryAfter == nil)
    }
    let long = ServiceStatus(.unavailable, "m", details: [.retryInfo(after: .seconds(Int64.max))])
    #expect(ServiceStatus(long.protobuf).retryAfter == .seconds(1_000_000_000))
  }

  @Test func `the JSON of a status has no details, whose form is that of their types`() throws {
    let status = ServiceStatus(.unavailable, "m", details: [.retryInfo(after: .seconds(3))]).protobuf
    #expect(String(decoding: try ProtobufStatusSchema.json(of: status), as: UTF8.self) == #"{"code":14,"message":"m"}"#)
    let text = #"{"code":14,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}"#
    let read = try ProtobufStatusSchema.message(json: Array(text.utf8), ignoresUnknownNames: true)
    #expect(ServiceStatus(read).retryAfter == nil)
  }
}
