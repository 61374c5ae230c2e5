import Testing
import VestaBytes
import VestaTesting

@Suite struct RecordTests {
  enum Kind: String { case plain, special }
  enum Level: Int { case low = 1, high = 200 }

  struct Part: FieldRecord, Equatable {
    var name = ""
    var weight: Double?

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &name)
      try visitor.field(2, &weight)
    }
  }

  struct Sample: FieldRecord, Equatable {
    var id = ""
    var note: String?
    var count: Int64 = 0
    var limit: Int64?
    var isOn = false
    var choice: Bool?
    var raw: [UInt8] = []
    var hash: [UInt8]?
    var tags: [String] = []
    var kind = Kind.plain
    var other: Kind?
    var level = Level.low
    var part = Part()
    var maybe: Part?
    var parts: [Part] = []
    var ratio = 0.0
    var size = 0

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &id)
      try visitor.field(2, &note)
      try visitor.field(3, &count)
      try visitor.field(4, &limit)
      try visitor.field(5, &isOn)
      try visitor.field(6, &choice)
      try visitor.field(7, &raw)
      try visitor.field(8, &hash)
      try visitor.field(9, &tags)
      try visitor.field(10, &kind)
      try visitor.field(11, &other)
      try visitor.field(12, &level)
      try visitor.field(13, &part)
      try visitor.field(14, &maybe)
      try visitor.field(15, &parts)
      try visitor.field(16, &ratio)
      try visitor.field(17, &size)
    }
  }

  static func random(_ random: inout SplitMix) -> Sample {
    func text(_ random: inout SplitMix) -> String { String(repeating: "é", count: random.below(4)) }
    func part(_ random: inout SplitMix) -> Part {
      Part(name: text(&random), weight: random.oneIn(2) ? nil : Double(random.below(9)) - 4)
    }
    var sample = Sample()
    sample.id = text(&random)
    if random.oneIn(2) { sample.note = text(&random) }
    sample.count = Int64(bitPattern: random.next()) >> Int64(random.below(64))
    if random.oneIn(2) { sample.limit = Int64(random.below(3)) - 1 }
    sample.isOn = random.oneIn(2)
    if random.oneIn(2) { sample.choice = random.oneIn(2) }
    sample.raw = random.bytes(random.below(5))
    if random.oneIn(2) { sample.hash = random.bytes(random.below(5)) }
    sample.tags = (0..<random.below(3)).map { "\($0)" }
    sample.kind = random.oneIn(2) ? .plain : .special
    sample.other = random.oneIn(2) ? nil : .special
    sample.level = random.oneIn(2) ? .low : .high
    sample.part = part(&random)
    if random.oneIn(2) { sample.maybe = part(&random) }
    sample.parts = (0..<random.below(3)).map { _ in part(&random) }
    sample.ratio = Double(random.below(100)) / 7
    sample.size = random.below(1 << 40)
    return sample
  }

  @Test func `a record is read as it was written`() throws {
    var random = SplitMix(seed: 1)
    for _ in 0..<1_000 {
      let sample = Self.random(&random)
      #expect(try Sample(fieldBytes: sample.fieldBytes(after: [7]), from: 1) == sample)
    }
  }

  @Test func `the format is pinned`() throws {
    struct Pinned: FieldRecord {
      var text = "ab"
      var zero: Int64 = 0
      var negative: Int64 = -3
      var present: Int64? = 0
      mutating func visit(_ visitor: inout some RecordVisitor) throws {
        try visitor.field(1, &text)
        try visitor.field(2, &zero)
        try visitor.field(3, &negative)
        try visitor.field(70, &present)
      }
    }
    #expect(try Pinned().fieldBytes() == [3, 2, 0x61, 0x62, 6, 5, 0x8C, 1, 0])
  }

  @Test func `a reader skips fields that it does not know, and clears absent ones`() throws {
    struct Old: FieldRecord {
      var id = "preset"
      var size = 9
      mutating func visit(_ visitor: inout some RecordVisitor) throws {
        try visitor.field(1, &id)
        try visitor.field(17, &size)
      }
    }
    var random = SplitMix(seed: 2)
    for _ in 0..<100 {
      let sample = Self.random(&random)
      let old = try Old(fieldBytes: sample.fieldBytes())
      #expect(old.id == sample.id)
      #expect(old.size == sample.size)
    }
    let empty = try Old(fieldBytes: [UInt8]())
    #expect(empty.id == "" && empty.size == 0)
  }

  @Test func `damaged bytes give a record or an error that names a field`() throws {
    var random = SplitMix(seed: 3)
    var refused = 0
    for _ in 0..<20_000 {
      var bytes = try Self.random(&random).fieldBytes()
      let index = random.below(bytes.count)
      switch random.below(3) {
      case 0: bytes[index] = UInt8(random.below(256))
      case 1: bytes.removeLast(bytes.count - index)
      default: bytes.insert(UInt8(random.below(256)), at: index)
      }
      do {
        _ = try Sample(fieldBytes: bytes)
      } catch let error as BytesError {
        refused += 1
        #expect(error.code == .malformed)
        #expect(error.message.contains("field"), "\(error)")
      }
    }
    #expect(refused > 5_000)
  }

  @Test func `a schema that does not ascend is refused when it is written`() {
    struct Wrong: FieldRecord {
      var first = "a"
      var second = "b"
      mutating func visit(_ visitor: inout some RecordVisitor) throws {
        try visitor.field(2, &first)
        try visitor.field(1, &second)
      }
    }
    let error = #expect(throws: BytesError.self) { try Wrong().fieldBytes() }
    #expect(error?.code == .invalidValue)
  }
}
