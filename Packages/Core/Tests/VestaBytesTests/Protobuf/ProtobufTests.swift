import Testing
import VestaBytes
import VestaTesting

/// The code of the error that `body` throws.
private func code(_ body: () throws -> Void) -> BytesError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? BytesError)?.code
  }
}

@Suite struct ProtobufTests {
  private func bytes(_ change: (inout Sample) -> Void) throws -> [UInt8] {
    var sample = Sample()
    change(&sample)
    return try SampleSchema.bytes(of: sample)
  }

  @Test func `scalars have the bytes of the encoding guide`() throws {
    #expect(try bytes { _ in } == [])
    #expect(try bytes { $0.flag = true } == [0x08, 1])
    #expect(try bytes { $0.small = 150 } == [0x10, 0x96, 0x01])
    #expect(try bytes { $0.small = -1 } == [0x10] + [UInt8](repeating: 0xFF, count: 9) + [1])
    #expect(try bytes { $0.ratio = 1 } == [0x21, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    #expect(try bytes { $0.ratio = -0.0 } == [0x21, 0, 0, 0, 0, 0, 0, 0, 0x80])
    #expect(try bytes { $0.text = "testing" } == [0x2A, 7] + Array("testing".utf8))
    #expect(try bytes { $0.colour = .green } == [0x38, 7])
    #expect(try bytes { $0.limit = 0 } == [0x42, 0])
    #expect(try bytes { $0.limit = 1 } == [0x42, 2, 0x08, 1])
    #expect(try bytes { $0.numbers = [3, 270, 86_942] } == [0x52, 6, 3, 0x8E, 2, 0x9E, 0xA7, 5])
    #expect(try bytes { $0.counts = ["a": 1] } == [0x5A, 5, 0x0A, 1, 0x61, 0x10, 1])
    #expect(try bytes { $0.choice = .text("") } == [0x8A, 1, 0])
    #expect(try bytes { $0.choice = .flag(false) } == [0x90, 1, 0])
  }

  @Test(arguments: [126, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152])
  func `a nested message of any length has its length in front`(size: Int) throws {
    var child = Sample()
    child.bytes = [UInt8](repeating: 7, count: size)
    var sample = Sample()
    sample.choice = .sample(child)
    sample.text = "before"
    #expect(try SampleSchema.message(from: SampleSchema.bytes(of: sample)) == sample)
  }

  @Test func `random messages survive a round trip, in both forms`() throws {
    var random = SplitMix(seed: 20_261_123)
    for _ in 0..<2_000 {
      let sample = Sample.random(using: &random)
      let bytes = try SampleSchema.bytes(of: sample)
      #expect(try SampleSchema.message(from: bytes) == sample)
      #expect(try SampleSchema.message(json: SampleSchema.json(of: sample)) == sample)
    }
  }

  @Test func `fields in any order, unknown ones and packed or single numbers are read`() throws {
    let read = try SampleSchema.message(from: [
      0x50, 5,  // one number, not packed
      0x52, 2, 6, 7,  // two, packed
      0x2A, 1, 0x61,
      0xA2, 0x06, 2, 9, 9,  // field 100, bytes
      0xA9, 0x06, 1, 2, 3, 4, 5, 6, 7, 8,  // field 101, eight bytes
      0xB5, 0x06, 1, 2, 3, 4,  // field 102, four bytes
      0xB8, 0x06, 0xFF, 1,  // field 103, a varint
      0x08, 2,
      0x2A, 1, 0x62,
    ])
    #expect(read.numbers == [5, 6, 7])
    #expect(read.text == "b", "the last one counts")
    #expect(read.flag)
  }

  @Test func `groups are skipped with all that is in them, wherever they are`() throws {
    // Field 100, which has a varint, bytes, and field 101 with eight bytes and four; then an empty one.
    let group: [UInt8] =
      [0xA3, 0x06, 0x08, 0xFF, 1, 0x12, 2, 0xA4, 0x06, 0xAB, 0x06, 0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4]
      + [0xAC, 0x06, 0xA4, 0x06, 0xA3, 0x06, 0xA4, 0x06]
    let text: [UInt8] = [0x2A, 1, 0x61]
    for bytes in [group + text, text + group, group + text + group, group + group + text] {
      #expect(try SampleSchema.message(from: bytes).text == "a", "\(bytes)")
    }
    let many = Array(repeatElement([0xA3, 0x06, 0xA4, 0x06] as [UInt8], count: 500_000).joined())
    #expect(try SampleSchema.message(from: many + text).text == "a")
  }

  @Test func `groups without their end, with another one's, or nested too deep are refused`() {
    func code(_ bytes: [UInt8]) -> BytesError.Code? {
      do throws(BytesError) { _ = try SampleSchema.message(from: bytes) } catch { return error.code }
      return nil
    }
    for bytes: [UInt8] in [
      [0xA3, 0x06], [0xA3, 0x06, 0x08], [0xA3, 0x06, 0xAC, 0x06], [0xA4, 0x06], [0xA3, 0x06, 0x12, 3, 0xA4, 0x06],
      [0xA3, 0x06, 0x00, 0xA4, 0x06], [0xA3, 0x06, 0x0E, 0xA4, 0x06], [0xA3, 0x06, 0xA4, 0x06, 0x0F],
    ] {
      #expect(code(bytes) == .malformed, "\(bytes)")
    }
    let starts = Array(repeatElement([0xA3, 0x06] as [UInt8], count: 100_000).joined())
    #expect(code(starts) == .limitExceeded)
  }

  @Test func `a message that occurs twice is merged, and the last member of a oneof counts`() throws {
    let first = try bytes {
      $0.choice = .sample(
        {
          var sample = Sample(); sample.text = "a"; sample.numbers = [1]; return sample
        }())
    }
    let second = try bytes {
      $0.choice = .sample(
        {
          var sample = Sample(); sample.small = 2; sample.numbers = [2]; return sample
        }())
    }
    guard case .sample(let merged) = try SampleSchema.message(from: first + second).choice else {
      Issue.record("there is no message")
      return
    }
    #expect(merged.text == "a" && merged.small == 2 && merged.numbers == [1, 2])
    let other = try bytes { $0.choice = .flag(true) }
    #expect(try SampleSchema.message(from: first + other).choice == .flag(true))
  }

  @Test func `a map entry without key or value has their defaults`() throws {
    #expect(try SampleSchema.message(from: [0x5A, 0]).counts == ["": 0])
    #expect(try SampleSchema.message(from: [0x5A, 2, 0x10, 3, 0x5A, 2, 0x10, 4]).counts == ["": 4])
  }

  @Test func `many entries of a map follow one another, and few need not`() throws {
    func entry(_ number: Int) -> [UInt8] {
      [0x5A, 6, 0x0A, 2, UInt8(65 + number / 64), UInt8(48 + number % 64), 0x10, 1]
    }
    let together = (0..<1_500).flatMap { entry($0) }
    #expect(try SampleSchema.message(from: together).counts.count == 1_500)
    // The unknown field 99 is between them.
    func scattered(_ count: Int) -> [UInt8] { (0..<count).flatMap { entry($0) + [0x98, 0x06, 1] } }
    #expect(try SampleSchema.message(from: scattered(1_001)).counts.count == 1_001)
    #expect(code { _ = try SampleSchema.message(from: scattered(1_002)) } == .limitExceeded)
    let limits = ProtobufLimits(maximumMoves: 3)
    #expect(try SampleSchema.message(from: scattered(3), limits: limits).counts.count == 3)
    #expect(code { _ = try SampleSchema.message(from: scattered(4), limits: limits) } == .limitExceeded)
  }

  @Test(
    arguments: [
      [0x08], [0x0B, 1], [0x0C], [0x0E, 0], [0x00, 0], [0x08, 0xFF], [0x2A, 5, 1], [0x2A, 1, 0xFF],
      [0x2A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
      [0x21, 1, 2], [0x08] + [UInt8](repeating: 0xFF, count: 11), [0x42, 3, 0x08, 1], [0x38, 2], [0x0A, 2, 1],
      [0x62, 2, 0x2A, 1, 0x61],
    ] as [[UInt8]])
  func `bytes that are no message are refused`(bytes: [UInt8]) {
    #expect(code { _ = try SampleSchema.message(from: bytes) } == .malformed)
  }

  @Test func `nesting and size have limits`() throws {
    var deep: [UInt8] = []
    for _ in 0..<150 {
      var writer = ProtobufWriter()
      writer.write(tag: 19, .delimited)
      writer.write(blob: deep)
      deep = writer.bytes
    }
    let bytes = deep
    #expect(code { _ = try SampleSchema.message(from: bytes) } == .limitExceeded)
    _ = try SampleSchema.message(from: bytes, limits: ProtobufLimits(maximumDepth: 150))
    #expect(ProtobufLimits(maximumDepth: 201).maximumDepth == 200)
    let limits = ProtobufLimits(maximumSize: bytes.count - 1)
    #expect(code { _ = try SampleSchema.message(from: bytes, limits: limits) } == .limitExceeded)
  }

  @Test func `hostile bytes give a message or an error`() {
    var random = SplitMix(seed: 7)
    var read = 0
    for round in 0..<20_000 {
      var bytes = (try? SampleSchema.bytes(of: .random(using: &random, depth: 2))) ?? []
      for _ in 0..<Int.random(in: 1..<5, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch round % 3 {
        case 0: bytes[index] = .random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(index...)
        default: bytes.insert(.random(in: 0...255, using: &random), at: index)
        }
      }
      if (try? SampleSchema.message(from: bytes)) != nil { read += 1 }
    }
    #expect(read > 1_000 && read < 19_000)
  }
}

@Suite struct ProtobufJSONTests {
  private func json(_ change: (inout Sample) -> Void) throws -> String {
    var sample = Sample()
    change(&sample)
    return String(decoding: try SampleSchema.json(of: sample), as: UTF8.self)
  }

  private func sample(_ json: String) throws -> Sample { try SampleSchema.message(json: Array(json.utf8)) }

  @Test func `values have protobuf's form in JSON`() throws {
    #expect(try json { _ in } == "{}")
    #expect(
      try json {
        $0.flag = true
        $0.small = -3
        $0.large = 9_007_199_254_740_993
        $0.bytes = [0xFB, 0xFF]
      } == #"{"flag":true,"small":-3,"large":"9007199254740993","bytes":"+/8="}"#)
    #expect(try json { $0.ratio = .nan } == #"{"ratio":"NaN"}"#)
    #expect(try json { $0.ratio = -.infinity } == #"{"ratio":"-Infinity"}"#)
    #expect(try json { $0.ratio = 3 } == #"{"ratio":3}"#)
    #expect(try json { $0.ratio = -0.0 } == #"{"ratio":-0.0}"#)
    #expect(try json { $0.colour = .red } == #"{"colour":"RED"}"#)
    #expect(try json { $0.limit = 0 } == #"{"limitValue":0}"#)
    #expect(try json { $0.numbers = [1, 2] } == #"{"numbers":[1,2]}"#)
    #expect(try json { $0.counts = ["a\"": 1] } == #"{"counts":{"a\"":"1"}}"#)
    #expect(try json { $0.children = [Sample(), Sample()] } == #"{"children":[{},{}]}"#)
    #expect(try json { $0.choice = .flag(false) } == #"{"isOn":false}"#)
  }

  @Test func `the names of the definition, strings of numbers and both alphabets of base64 are read`() throws {
    #expect(try sample(#"{"limit_value":"7"}"#).limit == 7)
    #expect(try sample(#"{"is_on":true}"#).choice == .flag(true))
    #expect(try sample(#"{"large":"-12"}"#).large == -12)
    #expect(try sample(#"{"large":1.2e1}"#).large == 12)
    #expect(try sample(#"{"ratio":"-Infinity"}"#).ratio == -.infinity)
    #expect(try sample(#"{"ratio":"1.5"}"#).ratio == 1.5)
    #expect(try sample(#"{"bytes":"-_8"}"#).bytes == [0xFB, 0xFF])
    #expect(try sample(#"{"bytes":"+/8="}"#).bytes == [0xFB, 0xFF])
    #expect(try sample(#"{"colour":7}"#).colour == .green)
    #expect(try sample(#"{"text":null,"children":null,"limitValue":null}"#) == Sample())
  }

  @Test(arguments: [
    #"{"flag":1}"#, #"{"small":2147483648}"#, #"{"small":1.5}"#, #"{"large":"1x"}"#, #"{"large":" 1"}"#,
    #"{"ratio":"nan"}"#, #"{"text":1}"#,
    #"{"bytes":"*"}"#, #"{"colour":"BLUE"}"#, #"{"colour":2}"#, #"{"numbers":1}"#, #"{"counts":[]}"#,
    #"{"children":[1]}"#, #"{"absent":1}"#, "[]",
  ])
  func `JSON that is no message is refused`(json: String) {
    #expect(code { _ = try sample(json) } == .malformed)
  }

  @Test func `an error says at which member, and unknown members are skipped when asked for`() throws {
    let error = #expect(throws: BytesError.self) { try sample(#"{"children":[{"sample":{"small":"x"}}]}"#) }
    #expect(error?.message == "JSON at children.sample.small: this is no integer")
    let json = Array(#"{"absent":{"deep":[1]},"text":"a"}"#.utf8)
    #expect(try SampleSchema.message(json: json, ignoresUnknownNames: true).text == "a")
  }
}
