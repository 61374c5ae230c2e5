import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Heads of one connection, which have texts of the heads before.
@Suite struct HTTP2HeadReaderTests {
  private typealias Field = (name: [UInt8], value: [UInt8])

  /// The parts of a head, as text.
  private func words(_ head: HTTP2Head) -> [String] {
    [
      head.method.name, head.target, head.scheme, head.authority, "\(head.status)", "\(head.fields)",
      "\(head.length as Any)", "\(head.expectsContinue)", "\(head.problem as Any)",
    ]
  }

  private func add(_ fields: [Field], to reader: inout HTTP2HeadReader) {
    reader.begin()
    for field in fields {
      let isBearable = field.name.withUnsafeBufferPointer { name in
        field.value.withUnsafeBufferPointer { reader.add(name, $0) }
      }
      if !isBearable { break }
    }
  }

  /// A text that is often the one before, but for a byte, a length, or how its bytes are no characters.
  private func vary(_ text: inout [UInt8], _ random: inout SplitMix) -> [UInt8] {
    switch random.below(10) {
    case 0 where !text.isEmpty: text[random.below(text.count)] = UInt8(random.below(256))
    case 1: text.append(random.pick([47, 97, 0xC3, 0xA9, 0xEF, 0xBF, 0xBD, 0xFF, 0]))
    case 2 where !text.isEmpty: text.removeLast()
    case 3: text = Array(String(decoding: text, as: UTF8.self).utf8)
    case 4: text = []
    case 5: text = [UInt8](repeating: 98, count: random.pick([1, 15, 16, 255, 256, 257, 600]))
    default: break
    }
    return text
  }

  @Test(arguments: UInt64(1)...8) func `a head is what it would be on a connection of its own`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var readers = (0..<2).map { _ in HTTP2HeadReader(sizeLimit: 900, countLimit: 8) }
    var texts = [Array("GET".utf8), Array("/a/b".utf8), Array("host".utf8)]
    for index in 0..<600 {
      var fields: [Field] = []
      let isTrailers = random.oneIn(5)
      if !isTrailers {
        let names = [":method", ":path", ":authority", ":scheme", ":status"].filter { _ in !random.oneIn(12) }
        for name in names {
          let place = [":method": 0, ":path": 1, ":authority": 2][name]
          let value = place.map { vary(&texts[$0], &random) } ?? Array("https".utf8)
          fields.append((Array(name.utf8), value))
        }
      }
      for name in ["host", "cookie", "content-length", "x"] where random.oneIn(4) {
        fields.append((Array(name.utf8), name == "host" ? texts[2] : random.bytes(random.below(40))))
      }
      let number = random.below(2)
      add(fields, to: &readers[number])
      if random.oneIn(10) { readers[number].isMalformed() }
      // Some heads are left in the middle.
      if random.oneIn(10) { continue }
      var other = HTTP2HeadReader(sizeLimit: 900, countLimit: 8)
      add(fields, to: &other)
      let head = readers[number].finish()
      var (found, expected) = (words(head), words(other.finish()))
      if head.problem == .malformed { (found[8], expected[8]) = ("", "") }
      #expect(found == expected, "seed \(seed), head \(index)")
    }
  }

  @Test func `an idle connection keeps no long text`() {
    var reader = HTTP2HeadReader(sizeLimit: 16_384, countLimit: 8)
    let long = [UInt8](repeating: 97, count: 5_000)
    add([":method", ":path", ":authority"].map { (Array($0.utf8), long) }, to: &reader)
    #expect(reader.finish().target.utf8.count == 5_000)
    let kept = [reader.known.method, reader.known.target, reader.known.authority]
    #expect(kept.allSatisfy { $0.utf8.count <= HTTP2HeadReader.keptText })
  }
}
