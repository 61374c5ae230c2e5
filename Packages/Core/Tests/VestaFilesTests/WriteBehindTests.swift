import Testing
import VestaFiles
import VestaTesting

@Suite struct WriteBehindTests {
  @Test func `the example of the documentation`() {
    let mebibyte: Int64 = 1 << 20
    var behind = WriteBehind()
    var left: [Int64: [Range<Int64>]] = [:]
    for end in 1...104 {
      let parts = behind.written(upTo: Int64(end) * mebibyte)
      if !parts.isEmpty { left[Int64(end)] = parts.map { $0.lowerBound / mebibyte..<$0.upperBound / mebibyte } }
    }
    #expect(left == [72: [64..<72], 80: [72..<80], 88: [80..<88], 96: [88..<96], 104: [96..<104, 64..<72]])
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `whatever is written, each part is left twice, and the beginning is kept`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let start = Int64(random.below(100)) << 20
    var behind = WriteBehind(after: start)
    var first: [Range<Int64>] = []
    var second: [Range<Int64>] = []
    var end: Int64 = 0
    for _ in 0..<400 {
      end += Int64(1 + random.below(3 << 20))
      for (index, part) in behind.written(upTo: end).enumerated() {
        #expect(part.lowerBound >= start && part.upperBound <= end)
        if index == 0 { first.append(part) } else { second.append(part) }
      }
    }
    for parts in [first, second] {
      #expect(parts.first?.lowerBound == start, "seed \(seed)")
      #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound }, "seed \(seed)")
    }
    #expect(end - (first.last?.upperBound ?? 0) < 11 << 20)
  }

  @Test func `leaving a part of a file changes nothing of it`() throws {
    let directory = try TemporaryDirectory()
    let file = try OpenFile(writing: directory.path(of: "f"), .ifMissing)
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    try file.write(bytes, at: 0)
    file.leave(from: 0, to: 50_000)
    try file.sync()
    file.leave(from: 0, to: 100_000)
    #expect(try file.read(at: 0, length: 200_000) == bytes)
    file.close()
    file.leave(from: 0, to: 1)
  }
}
