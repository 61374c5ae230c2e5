import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend

/// A streaming call that begins when it is first read; one task reads.
final class StreamingCall: Sendable {
  private let callable: HTTPSCallable
  private let data: JSONValue
  private let events = Locked<Reader?>(nil)

  init(_ callable: HTTPSCallable, _ data: JSONValue) {
    self.callable = callable
    self.data = data
  }

  func next() async throws -> FunctionEvent? {
    let location = callable.functions.location(of: callable.name)
    do {
      return try await reader(location).next()
    } catch {
      throw FunctionsCaller.error(for: error, location)
    }
  }

  private func reader(_ location: FunctionLocation) async throws -> Reader {
    if let reader = events.withLock({ $0 }) { return reader }
    let stream = try await callable.functions.caller.stream(
      location, data, timeout: callable.timeoutInterval, options: callable.options)
    let reader = Reader(stream)
    events.withLock { $0 = reader }
    return reader
  }

  // Sound as @unchecked Sendable: a stream has one consumer, so one task at a time is in `next`.
  private final class Reader: @unchecked Sendable {
    private var iterator: AsyncThrowingStream<FunctionEvent, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<FunctionEvent, any Error>) { iterator = stream.makeAsyncIterator() }

    func next() async throws -> FunctionEvent? { try await iterator.next(isolation: #isolation) }
  }
}
