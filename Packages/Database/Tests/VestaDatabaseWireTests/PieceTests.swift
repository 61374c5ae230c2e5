import Testing
import VestaBytes
import VestaDatabaseWire
import VestaTesting

@Suite struct PieceTests {
  @Test func `a short message is one frame, and a longer one is its number of pieces and the pieces`() throws {
    let short = [UInt8](repeating: 97, count: 16_384)
    #expect(try DatabasePieces.frames(of: short) == [short])
    let long = short + [98]
    #expect(try DatabasePieces.frames(of: long) == [utf8("2"), short, [98]])
    // Characters of two bytes are one unit each, characters of four bytes are two.
    let accents = utf8(String(repeating: "é", count: 16_384))
    #expect(try DatabasePieces.frames(of: accents) == [accents])
    let faces = utf8(String(repeating: "\u{1F600}", count: 8_193))
    #expect(try DatabasePieces.frames(of: faces).map(\.count) == [1, 32_768, 4])
  }

  @Test func `a message of too many pieces is refused`() {
    var tuning = DatabaseWireTuning()
    tuning.pieceUnits = 2
    tuning.maximumPieces = 3
    #expect(throws: BytesError.self) { _ = try DatabasePieces.frames(of: utf8("1234567"), tuning: tuning) }
    #expect(throws: Never.self) { _ = try DatabasePieces.frames(of: utf8("123456"), tuning: tuning) }
  }

  @Test func `keep-alive and empty frames are no messages`() throws {
    var machine = DatabasePieceMachine()
    for frame in ["0", "", " ", "000000"] {
      #expect(try machine.received(utf8(frame)) == nil)
      #expect(machine.isAtStart)
    }
    #expect(try machine.received(utf8("{}")) == utf8("{}"))
    #expect(try machine.received(utf8("2")) == nil)
    #expect(try machine.received(utf8("0")) == nil)
    #expect(try machine.received(utf8("12")) == utf8("012"))
  }

  @Test func `frames of random messages join to them`() throws {
    var random = SplitMix(seed: 3)
    var tuning = DatabaseWireTuning()
    for round in 0..<5_000 {
      tuning.pieceUnits = 2 + random.below(9)
      var machine = DatabasePieceMachine(tuning: tuning)
      for _ in 0..<3 {
        let message = utf8("{" + (0..<random.below(40)).map { _ in random.text() }.joined() + "}")
        var received: [[UInt8]] = []
        for frame in try DatabasePieces.frames(of: message, tuning: tuning) {
          #expect(String(validating: frame, as: UTF8.self) != nil)
          if let whole = try machine.received(frame) { received.append(whole) }
        }
        #expect(received == [message], "round \(round)")
      }
    }
  }

  @Test func `a message that is too long is refused before it is kept`() throws {
    var tuning = DatabaseWireTuning()
    tuning.maximumMessageBytes = 10
    var machine = DatabasePieceMachine(tuning: tuning)
    #expect(try machine.received(utf8("999999")) == nil)
    #expect(try machine.received(utf8("123456789")) == nil)
    #expect(throws: BytesError.self) { _ = try machine.received(utf8("12")) }
    var other = DatabasePieceMachine(tuning: tuning)
    #expect(throws: BytesError.self) { _ = try other.received(utf8("{\"a\":12345}")) }
  }
}
