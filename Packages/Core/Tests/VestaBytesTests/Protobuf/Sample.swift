import VestaBytes

/// A message with a field of every kind, for tests.
struct Sample: Equatable {
  enum Colour: Equatable {
    case none, red, green
  }

  enum Choice: Equatable {
    case nothing
    case text(String)
    case flag(Bool)
    indirect case sample(Sample)
  }

  var flag = false
  var small: Int32 = 0
  var large: Int64 = 0
  var ratio = 0.0
  var text = ""
  var bytes: [UInt8] = []
  var colour = Colour.none
  var limit: Int32?
  var texts: [String] = []
  var numbers: [Int32] = []
  var counts: [String: Int64] = [:]
  var children: [Sample] = []
  var choice = Choice.nothing
}

enum SampleColour: ProtobufEnumSchema {
  static var cases: [(number: Int32, name: StaticString, value: Sample.Colour)] {
    [(0, "COLOUR_UNSPECIFIED", .none), (1, "RED", .red), (7, "GREEN", .green)]
  }
}

enum SampleSchema: ProtobufSchema {
  static var empty: Sample { Sample() }

  static func visit(_ sample: inout Sample, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "flag", &sample.flag, ProtobufBool.self)
    try visitor.field(2, "small", &sample.small, ProtobufInt32.self)
    try visitor.field(3, "large", &sample.large, ProtobufInt64.self)
    try visitor.field(4, "ratio", &sample.ratio, ProtobufDouble.self)
    try visitor.field(5, "text", &sample.text, ProtobufString.self)
    try visitor.field(6, "bytes", &sample.bytes, ProtobufBytes.self)
    try visitor.field(7, "colour", &sample.colour, ProtobufEnum<SampleColour>.self)
    try visitor.optional(8, "limitValue", &sample.limit, ProtobufWrapper<ProtobufInt32>.self)
    try visitor.repeated(9, "texts", &sample.texts, ProtobufString.self)
    try visitor.repeated(10, "numbers", &sample.numbers, ProtobufInt32.self)
    try visitor.map(11, "counts", &sample.counts, ProtobufInt64.self)
    try visitor.repeated(12, "children", &sample.children, ProtobufMessage<SampleSchema>.self)
    try visitor.member(17, "name", &sample.choice, ProtobufString.self) {
      if case .text(let text) = $0 { text } else { nil }
    } embed: {
      .text($0)
    }
    try visitor.member(18, "isOn", &sample.choice, ProtobufBool.self) {
      if case .flag(let flag) = $0 { flag } else { nil }
    } embed: {
      .flag($0)
    }
    try visitor.member(19, "sample", &sample.choice, ProtobufMessage<SampleSchema>.self) {
      if case .sample(let sample) = $0 { sample } else { nil }
    } embed: {
      .sample($0)
    }
  }
}

extension Sample {
  /// A sample of random fields.
  static func random(using random: inout some RandomNumberGenerator, depth: Int = 3) -> Sample {
    var sample = Sample()
    if Bool.random(using: &random) { sample.flag = true }
    if Bool.random(using: &random) { sample.small = .random(in: .min ... .max, using: &random) }
    if Bool.random(using: &random) { sample.large = .random(in: .min ... .max, using: &random) }
    if Bool.random(using: &random) {
      sample.ratio = [0.5, -0.0, 1e300, .infinity, 3, -7].randomElement(using: &random) ?? 0
    }
    if Bool.random(using: &random) { sample.text = text(using: &random) }
    if Bool.random(using: &random) {
      sample.bytes = (0..<Int.random(in: 0..<300, using: &random)).map { _ in .random(in: 0...255, using: &random) }
    }
    sample.colour = [.none, .red, .green].randomElement(using: &random) ?? .none
    if Bool.random(using: &random) { sample.limit = .random(in: -1...1, using: &random) }
    sample.texts = (0..<Int.random(in: 0..<3, using: &random)).map { _ in text(using: &random) }
    sample.numbers = (0..<Int.random(in: 0..<40, using: &random)).map { _ in .random(in: -2...300, using: &random) }
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      sample.counts[text(using: &random)] = .random(in: -9...9, using: &random)
    }
    if depth > 0 {
      sample.children = (0..<Int.random(in: 0..<3, using: &random)).map { _ in .random(using: &random, depth: depth - 1)
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 1: sample.choice = .text(Bool.random(using: &random) ? "" : text(using: &random))
    case 2: sample.choice = .flag(.random(using: &random))
    case 3 where depth > 0: sample.choice = .sample(.random(using: &random, depth: depth - 1))
    default: break
    }
    return sample
  }

  private static func text(using random: inout some RandomNumberGenerator) -> String {
    let letters = ["a", "é", "\u{0}", "\"", "\\", "🐢", "e\u{301}", "long enough to be on the heap"]
    return (0..<Int.random(in: 0..<9, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
  }
}
