import VestaConcurrency
import VestaServiceInterop
public import VestaTesting
import VestaTransportInterop

/// The promises of gRPC over a server and a client, as checks.
public enum GRPCContracts {
  /// All promises.
  public static let all = calls + ends

  /// A service made of closures.
  struct Service: GRPCService {
    let methods: [String: GRPCMethod]

    func method(at path: String) -> GRPCMethod? { methods[path] }
  }

  static func serving<Value>(
    _ subject: TransportSubject, _ methods: [String: GRPCMethod], _ body: (GRPCChannel) async throws -> Value
  ) async throws -> Value {
    try await subject.serving(GRPCHandler(Service(methods: methods))) { authority in
      try await body(GRPCChannel(subject.client, authority: authority))
    }
  }

  static let echo = GRPCMethod.stream { _, call in
    for try await message in call.requests { try await call.send(message) }
  }

  private static let calls: [Contract<TransportSubject>] = [
    Contract("a unary call carries messages, metadata and trailers, in place and by a task") { subject in
      let answer: @Sendable (GRPCContext, [UInt8]) -> GRPCResponse = { context, message in
        var trailers: HTTPFields = ["x-count": "\(message.count)"]
        trailers.appendGRPC("x-back-bin", context.metadata.grpcBytes("x-raw-bin") ?? [])
        return GRPCResponse(
          message, metadata: ["x-text": context.metadata.first("x-text") ?? "none"], trailers: trailers)
      }
      let methods: [String: GRPCMethod] = [
        "/t.T/Place": .unary { .response(answer($0, $1)) },
        "/t.T/Task": .unary { context, message in
          .task {
            await Task.yield()
            return answer(context, message)
          }
        },
      ]
      let counting = [[UInt8]](repeating: Array(0...255), count: 1 << 12).flatMap(\.self)
      try await serving(subject, methods) { channel in
        for path in ["/t.T/Place", "/t.T/Task"] {
          for size in [0, 1, 70_000, 1 << 20] {
            var metadata: HTTPFields = ["x-text": "a b"]
            metadata.appendGRPC("x-raw-bin", [0, 255, 1])
            let message = Array(counting.prefix(size))
            let response = try await channel.unary(path, message, metadata: metadata, timeout: .seconds(60))
            try expect(response.message == message, "\(path) has changed \(size) bytes")
            try expect(response.metadata.first("x-text"), equals: "a b", "the metadata")
            try expect(response.trailers.first("x-count"), equals: "\(size)", "the trailer")
            try expect(response.trailers.grpcBytes("x-back-bin"), equals: [0, 255, 1], "the binary trailer")
          }
        }
      }
    },
    Contract("a failure carries its code, message and details, before and after messages") { subject in
      let failure = GRPCError(.failedPrecondition, "nö: 100%\n", details: [8, 9], trailers: ["x-why": "because"])
      let methods: [String: GRPCMethod] = [
        "/t.T/Place": .unary { _, _ in .failure(failure) }, "/t.T/Task": .unary { _, _ in .task { throw failure } },
        "/t.T/Stream": .stream { _, _ in throw failure },
        "/t.T/Late": .stream { _, call in
          try await call.send([1])
          throw failure
        },
      ]
      try await serving(subject, methods) { channel in
        func check(_ error: GRPCError, _ path: String) throws {
          try expect(error.code, equals: .failedPrecondition, "the code of \(path)")
          try expect(error.message, equals: failure.message, "the message of \(path)")
          try expect(error.details, equals: failure.details, "the details of \(path)")
          try expect(error.trailers.first("x-why"), equals: "because", "the trailer of \(path)")
        }
        for path in ["/t.T/Place", "/t.T/Task"] {
          try check(
            try await expectThrows(GRPCError.self, "the call") { try await channel.unary(path, [1]) }, path)
        }
        for path in ["/t.T/Stream", "/t.T/Late"] {
          let call = channel.open(path)
          if path == "/t.T/Late" { try expect(try await call.next(), equals: [1], "the message before") }
          try check(try await expectThrows(GRPCError.self, "the stream") { try await call.next() }, path)
        }
        let missing = try await expectThrows(GRPCError.self, "no method") { try await channel.unary("/t.T/No", []) }
        try expect(missing.code, equals: .unimplemented, "the code of a method that is not there")
      }
    },
    Contract("streams carry messages one by one, both ways at once") { subject in
      try await serving(subject, ["/t.T/Echo": echo]) { channel in
        let call = channel.open("/t.T/Echo")
        for size in [1, 0, 5, 100_000, 3] {
          let message = [UInt8](repeating: UInt8(size & 255), count: size)
          try await call.send(message)
          try expect(try await call.next() == message, "a message of \(size) bytes")
        }
        call.finish()
        try expect(try await call.next() == nil, "a message after the end")
      }
    },
    Contract("a client streams to one response, and a server streams to its end") { subject in
      let methods: [String: GRPCMethod] = [
        "/t.T/Sum": .stream { _, call in
          var sum = 0
          for try await message in call.requests { sum += message.count }
          try await call.send(Array("\(sum)".utf8))
        },
        "/t.T/Count": .stream { _, call in
          for try await message in call.requests {
            for index in 0..<(Int(message[0]) * 100) { try await call.send([UInt8(truncatingIfNeeded: index)]) }
          }
        },
      ]
      try await serving(subject, methods) { channel in
        let sum = channel.open("/t.T/Sum")
        for size in 0..<200 { try await sum.send([UInt8](repeating: 1, count: size)) }
        sum.finish()
        try expect(try await sum.next(), equals: Array("19900".utf8), "the sum")
        try expect(try await sum.next() == nil, "a message after the sum")
        let count = channel.open("/t.T/Count")
        try await count.send([20])
        count.finish()
        var received = 0
        while let message = try await count.next() {
          try expect(message, equals: [UInt8(truncatingIfNeeded: received)], "message \(received)")
          received += 1
        }
        try expect(received, equals: 2_000, "the number of messages")
      }
    },
    Contract("a message beyond the limit fails its call, and no other") { subject in
      let handler = GRPCHandler(
        Service(methods: ["/t.T/Unary": .unary { .response(GRPCResponse($1)) }, "/t.T/Echo": echo]),
        options: GRPCOptions(messageBytes: 1_000))
      try await subject.serving(handler) { authority in
        let channel = GRPCChannel(subject.client, authority: authority)
        let small = GRPCChannel(subject.client, authority: authority, options: GRPCOptions(messageBytes: 10))
        let large = [UInt8](repeating: 0, count: 1_001)
        let unary = try await expectThrows(GRPCError.self, "a call") { try await channel.unary("/t.T/Unary", large) }
        try expect(unary.code, equals: .resourceExhausted, "the code of the call")
        let echo = channel.open("/t.T/Echo")
        echo.offer(large)
        let stream = try await expectThrows(GRPCError.self, "a stream") { try await echo.next() }
        try expect(stream.code, equals: .resourceExhausted, "the code of the stream")
        let response = try await expectThrows(GRPCError.self, "a response") {
          try await small.unary("/t.T/Unary", [UInt8](repeating: 0, count: 11))
        }
        try expect(response.code, equals: .resourceExhausted, "the code of the response")
        try expect(try await channel.unary("/t.T/Unary", [1]).message, equals: [1], "the next call")
      }
    },
    Contract("a DuplexCall behind a method is one in front of it") { subject in
      let ended = Log<String>()
      let method = GRPCMethod.duplex(decode: { $0 }, encode: { $0 }) { _ in
        let source = DuplexSource<[UInt8], [UInt8]> { GRPCError(.resourceExhausted, $0) }
        source.start { request in
          if request == [0] { return source.end(throwing: GRPCError(.aborted, "zero")) }
          if request == [255] { return source.end() }
          source.send([request, request])
        } onFinish: {
          source.end()
        } onEnd: {
          ended.add("end")
        }
        return source.call
      }
      try await serving(subject, ["/t.T/Duplex": method]) { channel in
        func open() -> DuplexCall<[UInt8], [UInt8]> {
          channel.duplex("/t.T/Duplex", encode: { $0 }, decode: { $0 })
        }
        let finished = open()
        for number in 1...20 as ClosedRange<UInt8> { finished.send([number]) }
        finished.finish()
        var received: [[UInt8]] = []
        for try await batch in finished.responses { received += batch }
        try expect(received == (1...20).flatMap { [[$0], [$0]] }, "the responses \(received)")
        await ended.wait(for: 1)
        let failed = open()
        failed.send([0])
        let error = try await expectThrows(GRPCError.self, "the call") { for try await _ in failed.responses {} }
        try expect(error.code, equals: .aborted, "the code")
        await ended.wait(for: 2)
        // The end of the responses ends the call, though its requests have not ended.
        let ending = open()
        ending.send([255])
        for try await _ in ending.responses {}
        await ended.wait(for: 3)
        let cancelled = open()
        cancelled.send([7])
        for try await batch in cancelled.responses where !batch.isEmpty { cancelled.cancel() }
        await ended.wait(for: 4)
        do {
          var dropped: DuplexCall? = open()
          dropped?.send([7])
          if let responses = dropped?.responses { for try await _ in responses { break } }
          dropped = nil
        }
        await ended.wait(for: 5)
      }
    },
  ]

  private static let ends: [Contract<TransportSubject>] = [
    Contract("a deadline ends a call on both sides, also one that does not heed it") { subject in
      let log = Log<String>()
      let gate = Gate()
      let methods: [String: GRPCMethod] = [
        "/t.T/Unary": .unary { context, _ in
          .task {
            log.add(context.deadline == nil ? "no deadline" : "deadline")
            // It heeds no cancellation.
            await gate.wait()
            return GRPCResponse([])
          }
        },
        "/t.T/Stream": .stream { _, call in
          do {
            for try await _ in call.requests {}
          } catch {
            log.add("stream cancelled")
            throw error
          }
        },
      ]
      try await serving(subject, methods) { channel in
        let unary = try await expectThrows(GRPCError.self, "a call") {
          try await channel.unary("/t.T/Unary", [], timeout: .milliseconds(50))
        }
        try expect(unary.code, equals: .deadlineExceeded, "the code of the call")
        try expect(log.entries, equals: ["deadline"], "what the method saw")
        let call = channel.open("/t.T/Stream", timeout: .milliseconds(50))
        let stream = try await expectThrows(GRPCError.self, "a stream") { try await call.next() }
        try expect(stream.code, equals: .deadlineExceeded, "the code of the stream")
        await log.wait(for: 2)
        gate.open()
      }
    },
    Contract("a caller who leaves cancels the method: by its task, by the call, by dropping it") { subject in
      let log = Log<String>()
      let method = GRPCMethod.stream { context, call in
        try await call.send([1])
        do {
          try await Gate().pass()
        } catch {
          log.add(context.metadata.first("x-name") ?? "")
          throw error
        }
      }
      try await serving(subject, ["/t.T/Wait": method]) { channel in
        let first = channel.open("/t.T/Wait", metadata: ["x-name": "task"])
        _ = try await first.next()
        let reader = Task { try await first.next() }
        for _ in 0..<20 { await Task.yield() }
        reader.cancel()
        try await expectThrows(CancellationError.self, "the reader") { try await reader.value }
        await log.wait(for: 1)
        let second = channel.open("/t.T/Wait", metadata: ["x-name": "call"])
        _ = try await second.next()
        second.cancel()
        try expect(try await second.next() == nil, "a message after the cancellation")
        await log.wait(for: 2)
        do { _ = try await channel.open("/t.T/Wait", metadata: ["x-name": "drop"]).next() }
        try expect(await log.wait(for: 3), equals: ["task", "call", "drop"], "what was cancelled")
      }
    },
    Contract("streams end with UNAVAILABLE when the handler ends them, and no new one begins") { subject in
      let handler = GRPCHandler(Service(methods: ["/t.T/Echo": echo]))
      try await subject.serving(handler) { authority in
        let channel = GRPCChannel(subject.client, authority: authority)
        let call = channel.open("/t.T/Echo")
        try await call.send([1])
        try expect(try await call.next(), equals: [1], "the echo")
        handler.endStreams()
        for late in [call, channel.open("/t.T/Echo")] {
          let error = try await expectThrows(GRPCError.self, "a stream") { try await late.next() }
          try expect(error.code, equals: .unavailable, "the code")
        }
        try expect(handler.streamCount, equals: 0, "the streams that are left")
      }
    },
    Contract("a server streams no faster than its caller reads") { subject in
      let sent = Locked(0)
      let piece = [UInt8](repeating: 1, count: 16_384)
      let count = subject.slack / piece.count * 3
      let method = GRPCMethod.stream { _, call in
        for _ in 0..<count {
          try await call.send(piece)
          sent.withLock { $0 += piece.count }
        }
      }
      try await serving(subject, ["/t.T/Flood": method]) { channel in
        let call = channel.open("/t.T/Flood")
        var received = try await call.next() == nil ? 0 : 1
        var (seen, quiet) = (-1, 0)
        while quiet < 20 {
          let now = sent.withLock { $0 }
          quiet = now == seen ? quiet + 1 : 0
          seen = now
          // Turns of tasks alone take longer than the patience of a server, beside many others.
          try await Task.sleep(for: .milliseconds(5))
        }
        try expect(seen <= subject.slack, "the server is \(seen) bytes ahead of a caller who does not read")
        while try await call.next() != nil { received += 1 }
        try expect(received, equals: count, "the number of messages")
      }
    },
  ]
}
