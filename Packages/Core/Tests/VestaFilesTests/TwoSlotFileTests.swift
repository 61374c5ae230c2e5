import Testing
import VestaBytes
import VestaFiles

@Suite struct TwoSlotFileTests {
  private static let layout = TwoSlotFile(mark: "VESTATST")
  private var layout: TwoSlotFile { Self.layout }

  /// A file in which one content was written over another, and the same file after each step of the write.
  private struct Overwritten {
    let old = (0..<1_500).map { UInt8(truncatingIfNeeded: $0) }
    let new = (0..<1_700).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let before: [UInt8]
    let change: FileChange

    init(times: Int) throws {
      let earlier = [UInt8](repeating: 0xEE, count: 1_900)
      var file = TwoSlotFileTests.layout.encode(times == 1 ? old : earlier)
      for round in 1..<times {
        let change = try #require(TwoSlotFileTests.layout.change(of: file, to: round == times - 1 ? old : earlier))
        file = Self.apply(change, to: file)
      }
      before = file
      change = try #require(TwoSlotFileTests.layout.change(of: file, to: new))
    }

    var after: [UInt8] { Self.apply(change, to: before) }

    static func apply(_ change: FileChange, to file: [UInt8]) -> [UInt8] {
      var file = file
      file.replaceSubrange(change.offset..<(change.offset + change.bytes.count), with: change.bytes)
      return file
    }
  }

  @Test(arguments: 1...3)
  func `a write that was cut off leaves the old content`(_ times: Int) throws {
    let file = try Overwritten(times: times)
    #expect(layout.decode(file.before) == file.old)
    #expect(layout.decode(file.after) == file.new)
    for length in 0..<file.change.bytes.count {
      let torn = FileChange(offset: file.change.offset, bytes: Array(file.change.bytes.prefix(length)))
      #expect(layout.decode(Overwritten.apply(torn, to: file.before)) == file.old, "after \(length) bytes")
    }
    // A disk may also write the sectors in any order: each of them old or new.
    for sectors in 0..<(1 << 4) {
      var torn = file.before
      for index in file.change.bytes.indices where sectors >> (index / 512) & 1 == 1 {
        torn[file.change.offset + index] = file.change.bytes[index]
      }
      let isWhole = sectors == 0b1111
      #expect(layout.decode(torn) == (isWhole ? file.new : file.old), "sectors \(sectors)")
    }
  }

  @Test func `any flipped bit of the newest slot gives the content before it`() throws {
    let file = try Overwritten(times: 2)
    for index in file.change.offset..<(file.change.offset + file.change.bytes.count) {
      for bit in 0..<8 {
        var damaged = file.after
        damaged[index] ^= 1 << bit
        #expect(layout.decode(damaged) == file.old, "byte \(index - file.change.offset), bit \(bit)")
      }
    }
  }

  @Test func `a content that just fits is written in place, and one byte more takes a new file`() throws {
    // The mark has 8 bytes, the head after it 20.
    let longest = [UInt8](repeating: 7, count: 4_096 - 28)
    #expect(layout.encode(longest).count == 2 * 4_096)
    #expect(layout.decode(layout.encode(longest)) == longest)
    let file = layout.encode([1])
    let change = try #require(layout.change(of: file, to: longest))
    #expect(layout.decode(Overwritten.apply(change, to: file)) == longest)
    #expect(layout.change(of: file, to: longest + [7]) == nil)
    #expect(layout.encode(longest + [7]).count == 4 * 4_096)
  }

  @Test func `a damaged file is read as it was before or after the last change, or refused`() throws {
    let file = try Overwritten(times: 2)
    for index in file.after.indices {
      var damaged = file.after
      damaged[index] ^= 0x20
      let read = layout.decode(damaged)
      #expect(read == file.new || read == file.old, "byte \(index)")
    }
    for length in 0..<file.after.count {
      #expect(layout.decode(Array(file.after[..<length])) == nil, "\(length) bytes")
    }
    #expect(layout.decode(file.after + [0]) == nil)
    #expect(layout.decode(layout.encode([])) == [])
  }

  @Test func `a file of another kind is not read`() {
    let file = layout.encode([1, 2, 3])
    #expect(TwoSlotFile(mark: "VESTAOTH").decode(file) == nil)
    #expect(TwoSlotFile(mark: "VESTAOTH").change(of: file, to: [4]) == nil)
  }

  @Test func `a content that does not fit asks for a new file`() {
    let file = layout.encode([1])
    #expect(layout.change(of: file, to: [UInt8](repeating: 7, count: 4_068)) != nil)
    #expect(layout.change(of: file, to: [UInt8](repeating: 7, count: 4_069)) == nil)
    #expect(layout.encode([UInt8](repeating: 7, count: 4_069)).count == 2 * 8_192)
  }

  @Test func `the last number there is asks for a new file`() throws {
    // A file as a damaged or hostile one may be: the slot has the highest number, and a checksum that agrees.
    var file = layout.encode([1, 2, 3])
    file.replaceSubrange(16..<24, with: [UInt8](repeating: 0xFF, count: 8))
    var checksum = CRC32C()
    checksum.update(Array(file[8..<24]) + [1, 2, 3])
    file.replaceSubrange(24..<28, with: (0..<4).map { UInt8(truncatingIfNeeded: checksum.value >> (8 * $0)) })
    #expect(layout.decode(file) == [1, 2, 3])
    #expect(layout.change(of: file, to: [4]) == nil)
  }
}
