import Testing
import VestaBytes
import VestaTesting

/// The kind of the error that `body` throws.
private func code(_ body: () throws -> Void) -> BytesError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? BytesError)?.code
  }
}

@Suite struct FormFieldsTests {
  @Test func `fields are decoded, and a plus is a space where browsers write it so`() throws {
    let fields = try FormFields("a=1&&b=x%20y+z&c&=d&a=2&e==")
    #expect(fields.fields.map(\.name) == ["a", "b", "c", "", "a", "e"])
    #expect(fields["a"] == "1" && fields["b"] == "x y z" && fields["c"] == "" && fields["e"] == "=")
    #expect(fields["missing"] == nil)
    #expect(try FormFields("a=b+c", plusIsSpace: false)["a"] == "b+c")
  }

  @Test func `wrong percent encodings and too many fields are refused`() {
    for text in ["%", "a=%", "a=%2", "a=%zz", "a=%FF", "%C3=1"] {
      #expect(code { _ = try FormFields(text) } == .malformed)
    }
    #expect(code { _ = try FormFields("a&b&c", maximumCount: 2) } == .limitExceeded)
  }

  @Test func `random fields survive a round trip, and hostile ones are fields or an error`() throws {
    var random = SplitMix(seed: 1)
    let pieces = ["a", "é", "&", "=", "+", "%", " ", "\u{1F600}", "\u{0}", "%41"]
    for _ in 0..<100_000 {
      var fields = FormFields()
      for _ in 0..<random.below(4) {
        fields.append("n" + random.pick(pieces), random.pick(pieces) + random.pick(pieces))
      }
      #expect(try FormFields(fields.text) == fields)
      var bytes = Array(fields.text.utf8)
      if !bytes.isEmpty { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      _ = try? FormFields(utf8: bytes)
    }
  }
}
