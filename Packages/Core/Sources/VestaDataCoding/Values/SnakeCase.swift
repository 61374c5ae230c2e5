import Foundation

/// Conversion of key names between `camelCase` and `snake_case`, by the rules of Foundation's JSON coders.
enum SnakeCase {
  /// `oneTwoThree` as `one_two_three`, `myURLKey` as `my_url_key`.
  ///
  /// A word begins at a capital letter, and at the last character before the lowercase letter that ends a run of
  /// capitals.
  static func from(camelCase name: String) -> String {
    let characters = Array(name)
    guard let words = words(of: characters) else { return name }
    return words.map { characters[$0].map { $0.lowercased() }.joined() }.joined(separator: "_")
  }

  private static func words(of characters: [Character]) -> [Range<Int>]? {
    guard characters.count > 0 else { return nil }
    var words: [Range<Int>] = []
    var start = 0
    var search = 1
    while let capital = index(in: characters, from: search, where: isCapital) {
      words.append(start..<capital)
      guard let small = index(in: characters, from: capital, where: isSmall) else {
        start = capital
        search = characters.count
        break
      }
      start = capital
      if small != capital + 1 {
        words.append(capital..<small - 1)
        start = small - 1
      }
      search = small
    }
    words.append(start..<characters.count)
    return words
  }

  private static func index(in characters: [Character], from start: Int, where matches: (Character) -> Bool) -> Int? {
    guard start < characters.count else { return nil }
    return characters[start...].firstIndex(where: matches)
  }

  private static func isCapital(_ character: Character) -> Bool {
    character.unicodeScalars.first?.properties.generalCategory == .uppercaseLetter
  }

  private static func isSmall(_ character: Character) -> Bool {
    character.unicodeScalars.first?.properties.generalCategory == .lowercaseLetter
  }

  /// `one_two_three` as `oneTwoThree`; underscores at both ends stay.
  static func toCamelCase(_ name: String) -> String {
    guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" }) else {
      return name
    }
    let parts = name[first...last].split(separator: "_")
    guard parts.count > 1, let head = parts.first else { return name }
    // Foundation's notion of a capitalised word, in which a letter after a digit is a capital too.
    let tail = parts.dropFirst().map { String($0).capitalized }
    return name[..<first] + head.lowercased() + tail.joined() + name[name.index(after: last)...]
  }
}
