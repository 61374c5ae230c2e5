import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaStorage

@Suite struct SequenceSourceTests {
  /// A source of parts, which counts how many were taken.
  private func source(_ parts: [[UInt8]?], _ taken: Locked<Int> = Locked(0)) -> SequenceSource {
    SequenceSource {
      taken.withLock { taken in
        defer { taken += 1 }
        return taken < parts.count ? parts[taken] : nil
      }
    }
  }

  @Test func `parts become chunks, and the last one is short`() async throws {
    let taken = Locked(0)
    let source = source([[1, 2], [], [3, 4, 5], [6]], taken)
    #expect(try await source.read(at: 0, length: 2) == [1, 2])
    // No further than the chunk needs.
    #expect(taken.withLock { $0 } == 1)
    #expect(try await source.read(at: 2, length: 2) == [3, 4])
    #expect(taken.withLock { $0 } == 3)
    #expect(try await source.read(at: 4, length: 2) == [5, 6])
    #expect(try await source.read(at: 6, length: 2) == [])
    #expect(try await source.read(at: 6, length: 2) == [])
    source.close()
  }

  @Test func `the last chunk is read again from any byte of it, and nothing before or after it`() async throws {
    let source = source([[1, 2, 3, 4], [5, 6, 7, 8]])
    #expect(try await source.read(at: 0, length: 4) == [1, 2, 3, 4])
    #expect(try await source.read(at: 0, length: 4) == [1, 2, 3, 4])
    #expect(try await source.read(at: 1, length: 3) == [2, 3, 4])
    await #expect(throws: StorageError.self) { try await source.read(at: 0, length: 4) }
    await #expect(throws: StorageError.self) { try await source.read(at: 5, length: 4) }
    #expect(try await source.read(at: 4, length: 4) == [5, 6, 7, 8])
    await #expect(throws: StorageError.self) { try await source.read(at: 3, length: 1) }
  }

  @Test func `a reader that was cancelled leaves what arrives to the next one`() async throws {
    let (gate, taken) = (Gate(), Locked(0))
    let source = SequenceSource {
      await gate.wait()
      return taken.withLock { taken -> [UInt8]? in
        defer { taken += 1 }
        return taken == 0 ? [1, 2] : nil
      }
    }
    let cancelled = Task { try await source.read(at: 0, length: 2) }
    while gate.waitingCount == 0 { await Task.yield() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let next = Task { try await source.read(at: 0, length: 2) }
    gate.open()
    #expect(try await next.value == [1, 2])
    #expect(try await source.read(at: 2, length: 2) == [])
  }

  @Test func `a failure of the sequence is thrown at each further read`() async throws {
    struct Broken: Error {}
    let taken = Locked(0)
    let source = SequenceSource {
      let number = taken.withLock { taken in
        taken += 1
        return taken
      }
      guard number == 1 else { throw Broken() }
      return [1, 2, 3]
    }
    #expect(try await source.read(at: 0, length: 2) == [1, 2])
    for _ in 0..<2 { await #expect(throws: Broken.self) { try await source.read(at: 2, length: 2) } }
    #expect(taken.withLock { $0 } == 2)
  }

  @Test func `a closed source reads nothing more`() async throws {
    let source = source([[1, 2]])
    source.close()
    await #expect(throws: CancellationError.self) { try await source.read(at: 0, length: 1) }
  }
}
