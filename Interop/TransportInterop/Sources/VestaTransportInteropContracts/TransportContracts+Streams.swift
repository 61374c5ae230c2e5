import VestaConcurrency
import VestaTesting
import VestaTransportInterop

extension TransportContracts {
  static let streams: [Contract<TransportSubject>] = [
    Contract("a streamed response arrives while it is written, with its trailers") { subject in
      let stream = ByteStream()
      try await subject.serving { _ in
        .response(HTTPResponse(body: .stream(stream)))
      } _: { authority in
        let request = HTTPRequest(.get, "/", authority: authority, fields: ["te": "trailers"])
        try await stream.write(Array("first".utf8))
        let response = try await subject.client.send(request, timeout: nil)
        let body = response.body.stream
        try expect(try await read(body, 5), equals: Array("first".utf8), "the first piece")
        try await stream.write(Array("second".utf8))
        try expect(try await read(body, 6), equals: Array("second".utf8), "the second piece")
        stream.finish(trailers: ["x-sum": "11"])
        try expect(try await body.next() == nil, "bytes after the end")
        try expect(body.trailers["x-sum"], equals: "11", "the trailer")
      }
    },
    Contract("a streamed request arrives while it is written, and is answered while it lasts") { subject in
      try await subject.serving(body: .streamed) { request in
        .task {
          let answer = ByteStream()
          Task {
            do {
              for try await bytes in request.body.stream { try await answer.write(bytes.map { $0 &+ 1 }) }
              answer.finish()
            } catch {
              answer.fail(error)
            }
          }
          return HTTPResponse(body: .stream(answer))
        }
      } _: { authority in
        let stream = ByteStream()
        let request = HTTPRequest(.post, "/", authority: authority, body: .stream(stream))
        try await stream.write([1, 2, 3])
        let body = try await subject.client.send(request, timeout: nil).body.stream
        try expect(try await read(body, 3), equals: [2, 3, 4], "the answer to the first piece")
        try await stream.write([4])
        try expect(try await read(body, 1), equals: [5], "the answer to the second piece")
        stream.finish()
        try expect(try await body.next() == nil, "bytes after the end")
      }
    },
    Contract("a writer goes no faster than its reader, and all bytes arrive") { subject in
      let written = Locked(0)
      let piece = [UInt8](repeating: 1, count: 65_536)
      let pieces = subject.slack / piece.count * 4
      try await subject.serving { _ in
        let stream = ByteStream()
        Task {
          for _ in 0..<pieces {
            try await stream.write(piece)
            written.withLock { $0 += piece.count }
          }
          stream.finish()
        }
        return .response(HTTPResponse(body: .stream(stream)))
      } _: { authority in
        let request = HTTPRequest(.get, "/", authority: authority)
        let body = try await subject.client.send(request, timeout: nil).body.stream
        var count = try await body.next()?.count ?? 0
        // As long as anything moves, wait; then it must have stopped for want of a reader, and not at the end.
        var seen = -1
        var quiet = 0
        while quiet < 20 {
          let now = written.withLock { $0 }
          quiet = now == seen ? quiet + 1 : 0
          seen = now
          // Turns of tasks alone take longer than the patience of a server, beside many others.
          try await Task.sleep(for: .milliseconds(5))
        }
        try expect(seen <= subject.slack, "the writer is \(seen) bytes ahead of a reader who does not read")
        while let bytes = try await body.next() { count += bytes.count }
        try expect(count, equals: pieces * piece.count, "the number of bytes")
      }
    },
    Contract("a body with a length ends although its reader lags, both ways") { subject in
      for size in [1, 65_536, 262_144, 300_000] {
        let (piece, read) = ([UInt8](repeating: 7, count: size), Gate())
        try await subject.serving(body: .streamed) { request in
          .task {
            try await read.pass()
            var count = 0
            for try await bytes in request.body.stream { count += bytes.count }
            return HTTPResponse(fields: ["x-count": "\(count)"], body: .bytes(piece))
          }
        } _: { authority in
          let upload = ByteStream()
          let request = HTTPRequest(.post, "/", authority: authority, body: .stream(upload, length: size))
          upload.offer(piece)
          upload.finish()
          let call = Task { try await subject.client.send(request, timeout: nil) }
          // Both sides have time to send everything before the first read.
          for _ in 0..<500 { await Task.yield() }
          read.open()
          let response = try await call.value
          try expect(response.fields["x-count"], equals: "\(size)", "the bytes of the request")
          for _ in 0..<500 { await Task.yield() }
          try expect(try await response.body.collect(upTo: size).count, equals: size, "the bytes of the response")
        }
      }
    },
    Contract("a reader who leaves a response stops its writer, and the client still serves") { subject in
      let outcome = Log<String>()
      try await subject.serving { request in
        guard request.target == "/endless" else { return .response(HTTPResponse(body: .text("next"))) }
        let stream = ByteStream()
        Task {
          do {
            while true { try await stream.write([UInt8](repeating: 0, count: 10_000)) }
          } catch {
            outcome.add(TransportError.Code.closed ~= error ? "closed" : "\(error)")
          }
        }
        return .response(HTTPResponse(body: .stream(stream)))
      } _: { authority in
        let request = HTTPRequest(.get, "/endless", authority: authority)
        let body = try await subject.client.send(request, timeout: nil).body.stream
        _ = try await body.next()
        body.cancel()
        try expect(await outcome.wait(for: 1), equals: ["closed"], "how the writer ended")
        let next = try await subject.client.send(HTTPRequest(.get, "/next", authority: authority), timeout: nil)
        try expect(try await text(of: next), equals: "next", "the next response")
      }
    },
    Contract("a response that fails in the middle is an error for its reader") { subject in
      struct Failure: Error {}
      let stream = ByteStream()
      try await subject.serving { _ in
        .response(HTTPResponse(body: .stream(stream)))
      } _: { authority in
        try await stream.write([1])
        let request = HTTPRequest(.get, "/", authority: authority)
        let body = try await subject.client.send(request, timeout: nil).body.stream
        _ = try await body.next()
        stream.fail(Failure())
        try await expectThrows((any Error).self, "reading on") { while try await body.next() != nil {} }
      }
    },
    Contract("a client that is cancelled cancels the handler's task") { subject in
      let log = Log<String>()
      try await subject.serving { _ in
        .task {
          log.add("begun")
          do {
            try await Gate().pass()
          } catch {
            log.add("cancelled")
            throw error
          }
          return HTTPResponse()
        }
      } _: { authority in
        let request = HTTPRequest(.get, "/", authority: authority)
        let call = Task { try await subject.client.send(request, timeout: nil) }
        await log.wait(for: 1)
        call.cancel()
        try await expectThrows(CancellationError.self, "the call") { try await call.value }
        await log.wait(for: 2)
        try expect(log.entries, equals: ["begun", "cancelled"], "what the handler saw")
      }
    },
  ]

  /// The next bytes, exactly the given number.
  static func read(_ stream: ByteStream, _ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += try expectValue(try await stream.next(), "more bytes") }
    return bytes
  }
}
