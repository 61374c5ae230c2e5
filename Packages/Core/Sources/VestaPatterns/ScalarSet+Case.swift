extension ScalarSet {
  /// The set with all letters that differ from its letters by their case alone.
  var caseFolded: ScalarSet {
    if let last = ranges.last, last.upperBound < 128 { return asciiCaseFolded }
    let variants = CaseTable.variants
    // Each scalar of a small set is looked up, each letter of the table is looked for in a large one.
    let isSmall = ranges.reduce(0) { $0 + $1.count } < variants.count
    let added =
      isSmall ? ranges.joined().compactMap { variants[$0] } : variants.filter { contains($0.key) }.map(\.value)
    return ScalarSet(ranges + added.joined().map { $0...$0 })
  }

  /// The steps that folding takes, each some tens of nanoseconds.
  var foldingSteps: Int {
    guard let last = ranges.last, last.upperBound >= 128 else { return 4 }
    return 4 * min(ranges.reduce(0) { $0 + $1.count }, CaseTable.variants.count)
  }

  /// The same for a set of ASCII, without the table.
  private var asciiCaseFolded: ScalarSet {
    var folded = ranges
    for range in ranges {
      for value in range where (65...90).contains(value & ~32) {
        folded.append((value ^ 32)...(value ^ 32))
        // The long s and the Kelvin sign are letters of ASCII in another form.
        if value | 32 == 115 { folded.append(0x17F...0x17F) }
        if value | 32 == 107 { folded.append(0x212A...0x212A) }
      }
    }
    return ScalarSet(folded)
  }
}

/// The letters that are the same but for their case, as the simple case folding of Unicode has it.
enum CaseTable {
  /// The other forms of each letter: `k` has `K` and the Kelvin sign.
  static let variants: [UInt32: [UInt32]] = {
    var groups: [UInt32: [UInt32]] = [:]
    // No script beyond these planes has cases.
    for value in UInt32(0)..<0x20000 {
      guard let scalar = Unicode.Scalar(value), let key = folded(scalar) else { continue }
      groups[key, default: []].append(value)
    }
    var variants: [UInt32: [UInt32]] = [:]
    for group in groups.values where group.count > 1 {
      for value in group { variants[value] = group.filter { $0 != value } }
    }
    return variants
  }()

  /// The letter that stands for all forms of one; nil for what is no letter with a case.
  private static func folded(_ scalar: Unicode.Scalar) -> UInt32? {
    let properties = scalar.properties
    // The dotless i is another letter than i, although its upper case is I.
    guard properties.isCased || properties.changesWhenCaseMapped, scalar != "\u{131}" else { return nil }
    if let same = withoutUpperCase[scalar.value] { return same }
    let upper = single(properties.uppercaseMapping) ?? single(properties.titlecaseMapping) ?? scalar
    return (single(upper.properties.lowercaseMapping) ?? upper).value
  }

  /// Letters that are written in two ways and whose upper case is several letters.
  private static let withoutUpperCase: [UInt32: UInt32] = [0x1FD3: 0x390, 0x1FE3: 0x3B0, 0xFB05: 0xFB06]

  /// The only scalar of a text; nil where it has several.
  private static func single(_ text: String) -> Unicode.Scalar? {
    let scalars = text.unicodeScalars
    return scalars.count == 1 ? scalars.first : nil
  }
}
