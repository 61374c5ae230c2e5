import Testing
import VestaBytes
import VestaConcurrency
import VestaTransportInterop

/// A file in memory that counts what is read, and may become shorter.
private final class MemoryFile: ReadableFile {
  let descriptor: Int32 = -1
  private struct State {
    var bytes: [UInt8]
    var read = 0
  }

  private let state: Locked<State>

  init(_ bytes: [UInt8]) { state = Locked(State(bytes: bytes)) }

  var readCount: Int { state.withLock { $0.read } }

  func shorten(to count: Int) { state.withLock { $0.bytes = Array($0.bytes.prefix(count)) } }

  func read(at offset: Int64, count: Int) -> [UInt8]? {
    state.withLock { state in
      let found = Array(state.bytes.dropFirst(Int(offset)).prefix(count))
      state.read += found.count
      return found
    }
  }
}

struct FileStreamTests {
  private let content = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  @Test func `a part of a file is read when it is asked for, and no faster than the reader`() async throws {
    let file = MemoryFile(content)
    let stream = ByteStream(FileSection(file, offset: 10, count: 400_000))
    #expect(file.readCount == 0)
    let first = try #require(try await stream.next())
    #expect(file.readCount < 200_000)
    var all = first
    while let bytes = try await stream.next() { all += bytes }
    #expect(all == Array(content[10..<400_010]))
  }

  @Test func `a file that becomes shorter is an error and not an end`() async throws {
    let file = MemoryFile(content)
    let stream = ByteStream(FileSection(file, offset: 0, count: 500_000))
    _ = try await stream.next()
    file.shorten(to: 100)
    await #expect(throws: TransportError.self) { while try await stream.next() != nil {} }
  }

  @Test func `a stream that is left reads no more, and one without a reader nothing`() async throws {
    let file = MemoryFile(content)
    let stream = ByteStream(FileSection(file, offset: 0, count: 500_000))
    stream.cancel()
    #expect(file.readCount == 0)
    let empty = ByteStream(FileSection(file, offset: 3, count: 0))
    #expect(try await empty.next() == nil)
  }
}
