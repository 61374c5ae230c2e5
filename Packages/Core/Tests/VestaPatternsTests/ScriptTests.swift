import Testing

@testable import VestaPatterns

@Suite struct ScriptTests {
  @Test(arguments: [
    ("\\p{Greek}+", "αΩ", true), ("\\p{Greek}", "a", false), ("\\P{Greek}", "a", true), ("\\P{Greek}", "α", false),
    ("\\p{^Greek}", "a", true), ("\\p{^Greek}", "α", false), ("\\P{^Greek}", "α", true),
    ("[\\p{Greek}a-z]+", "αz", true),
    ("[^\\p{Greek}]", "я", true), ("[^\\P{Greek}]", "α", true), ("[^\\P{Greek}]", "я", false),
    ("\\p{Cyrillic}+", "Привет", true), ("\\p{Han}+", "漢字\u{20000}", true), ("\\p{Hiragana}+", "ひらがな", true),
    ("\\p{Old_Italic}", "\u{10300}", true), ("\\p{Nko}", "\u{7C0}", true), ("\\p{SignWriting}", "\u{1D800}", true),
    ("\\p{Common}", "1", true), ("\\p{Inherited}", "\u{300}", true), ("\\p{Latin}+", "aÉª", true),
    ("\\p{Kawi}", "\u{11F02}", true), ("\\p{Cs}", "a", false),
  ])
  func `scripts are classes with the names of RE2`(expression: String, text: String, expected: Bool) throws {
    for isReused in [true, false] {
      #expect(try Pattern(expression, isReused: isReused).matchesWhole(text) == expected)
    }
  }

  @Test(arguments: ["greek", "Grek", "Script=Greek", " Greek", "Greek ", "Zzzz", "Unknown", "Cn", "L&", ""])
  func `other names of scripts are refused, as by RE2`(name: String) {
    #expect(throws: PatternError.self) { try Pattern("\\p{\(name)}") }
  }

  /// The names of characters are another witness: that of a letter or a digit begins with the name of its script.
  @Test func `letters and digits have the script that their names begin with`() {
    let scripts = scriptOfScalar()
    let names = Dictionary(
      uniqueKeysWithValues: ScriptTable.ranges.keys.map { ($0.uppercased().replacing("_", with: " "), $0) })
    var counts: [String: Int] = [:]
    for value in UInt32(0)..<0x20000 {
      guard let expected = scriptInName(value, names) else { continue }
      counts[expected, default: 0] += 1
      #expect(scripts[value] == expected, "U+\(String(value, radix: 16))")
    }
    // The names of hieroglyphs, of Han, of signs and of Canadian syllabics say it in other words.
    #expect(counts.count > 150)
    #expect(counts.values.reduce(0, +) > 28_000)
  }

  /// A changed, missing or added range changes the fingerprint (FNV-1a), which was computed from the matches of RE2.
  @Test func `every range of every script is that of RE2`() throws {
    var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325
    for name in ScriptTable.ranges.keys.sorted() {
      let ranges = try #require(ScalarSet.category(name)).ranges.map {
        " \(String($0.lowerBound, radix: 16))-\(String($0.upperBound, radix: 16))"
      }
      for byte in "\(name):\(ranges.joined())\n".utf8 { fingerprint = (fingerprint ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    #expect(fingerprint == 0xB1C4_31E9_12EC_81B2)
  }

  /// The script of each scalar that has one, from the table.
  private func scriptOfScalar() -> [UInt32: String] {
    var scripts: [UInt32: String] = [:]
    for (name, ranges) in ScriptTable.ranges {
      for value in ranges.joined() {
        #expect(scripts.updateValue(name, forKey: value) == nil, "two scripts have U+\(String(value, radix: 16))")
      }
    }
    return scripts
  }

  /// The script with which the name of a letter or a digit of Unicode 15 begins, the longest one.
  private func scriptInName(_ value: UInt32, _ names: [String: String]) -> String? {
    guard let properties = Unicode.Scalar(value)?.properties, let age = properties.age, age.major <= 15,
      [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber]
        .contains(properties.generalCategory)
    else { return nil }
    let words = (properties.name ?? "").replacing("-", with: " ").split(separator: " ")
    return (1...4).reversed().lazy.compactMap { names[words.prefix($0).joined(separator: " ")] }.first
  }
}

@Suite struct CaseTests {
  /// All letters that have more than two forms, as RE2 folds them, and those without an upper case.
  @Test(arguments: [
    "Kk\u{212A}", "Ssſ", "µΜμ", "Åå\u{212B}", "Ǆǅǆ", "Ǉǈǉ", "Ǌǋǌ", "Ǳǲǳ", "\u{345}Ιι\u{1FBE}", "Ββϐ", "Εεϵ", "Θθϑϴ",
    "Κκϰ", "Ππϖ", "Ρρϱ", "Σςσ", "Φφϕ", "Ωω\u{2126}", "Ввᲀ", "Ддᲁ", "Ооᲂ", "Ссᲃ", "Ттᲄᲅ", "Ъъᲆ", "Ѣѣᲇ", "ᲈꙊꙋ", "Ṡṡẛ",
    "\u{390}\u{1FD3}", "\u{3B0}\u{1FE3}", "\u{FB05}\u{FB06}",
  ])
  func `every form of a letter stands for all where case is ignored`(forms: String) throws {
    for form in forms.unicodeScalars {
      let pattern = try Pattern(String(form), ignoresCase: true)
      for other in forms.unicodeScalars { #expect(pattern.matchesWhole(String(other)), "\(form) and \(other)") }
      let group = ScalarSet(form.value).caseFolded.ranges.joined()
      #expect(group.elementsEqual(forms.unicodeScalars.map(\.value).sorted()))
    }
  }

  @Test func `a letter of ASCII has two forms, but k and s have a third`() {
    for lower in UInt32(97)...122 {
      let third: [UInt32] = lower == 107 ? [0x212A] : lower == 115 ? [0x17F] : []
      for form in [lower, lower - 32] + third {
        #expect(ScalarSet(form).caseFolded.ranges.joined().elementsEqual([lower - 32, lower] + third), "\(form)")
      }
    }
  }

  @Test(arguments: [
    ("\\p{Lu}", "a", true), ("\\P{Lu}", "a", false), ("\\P{Lu}", "1", true), ("\\p{Greek}", "µ", true),
    ("\\P{Greek}", "µ", false), ("[^\\P{Greek}]", "µ", true), ("\\w", "\u{212A}", true), ("\\W", "k", false),
    ("\\W", "\u{212A}", false), ("[^\\W]", "k", true), ("[[:^upper:]]", "a", false), ("[[:upper:]]", "ſ", true),
    ("[\\x{80}-\\x{10ffff}]", "k", true), ("[^K]", "k", false), ("[^\\x{80}-\\x{10ffff}]", "s", false),
    ("ß", "ẞ", true),
    ("I", "ı", false), ("i", "İ", false), ("ı", "I", false), ("\\x{10400}", "\u{10428}", true), ("é", "É", true),
    ("[aé]", "É", true), ("[aé]", "A", true), ("[0é]", "É", true),
    ("[@[`{]", "`", true), ("@", "`", false), ("[", "{", false), ("Z", "z", true),
  ])
  func `classes are folded before they are negated`(expression: String, text: String, expected: Bool) throws {
    let escaped = expression == "[" ? "\\[" : expression
    #expect(try Pattern(escaped, ignoresCase: true).matchesWhole(text) == expected)
    #expect(try Pattern("(?i)" + escaped).matchesWhole(text) == expected)
  }

  @Test func `large classes are repeated only so often`() {
    for text in [String(repeating: #"\pL"#, count: 5_000), "[" + String(repeating: #"\PL"#, count: 5_000) + "]"] {
      #expect(throws: PatternError.self) { try Pattern(text) }
    }
  }
}
