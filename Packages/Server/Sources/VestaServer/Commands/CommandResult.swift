/// The output of a command, and its status at the end.
public struct CommandResult: Sendable, Hashable {
  /// The lines.
  public var text: String

  /// The status; 0 for success.
  public var status: Int32

  /// A result.
  public init(_ text: String, status: Int32 = 0) {
    self.text = text
    self.status = status
  }

  /// Runs a command whose failure is a sentence.
  static func of(_ command: () async throws(ServerError) -> CommandResult) async -> CommandResult {
    do throws(ServerError) {
      return try await command()
    } catch {
      return CommandResult(error.description, status: 1)
    }
  }
}

/// The options of a command: names with a value, flags, and other words; pure.
struct CommandOptions {
  private(set) var values: [String: String] = [:]
  private(set) var flags: Set<String> = []
  private(set) var words: [String] = []

  /// Reads arguments.
  ///
  /// - Throws: ``ServerError`` for an option that is not known, and for one without its value.
  init(_ arguments: [String], values names: Set<String>, flags known: Set<String> = []) throws(ServerError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-") else {
        words.append(argument)
        continue
      }
      let name = String(argument.prefix { $0 != "=" })
      if known.contains(argument) {
        flags.insert(argument)
      } else if names.contains(name) {
        let inline = argument.count > name.count ? String(argument.dropFirst(name.count + 1)) : nil
        guard let value = inline ?? rest.popFirst() else { throw ServerError("\(name) needs a value.") }
        values[name] = value
      } else {
        throw Self.unknown(argument, known: names.union(known))
      }
    }
  }

  private static func unknown(_ argument: String, known: Set<String>) -> ServerError {
    let list = known.sorted().joined(separator: ", ")
    return ServerError("\"\(argument)\" is no option of this command. Known: \(list).")
  }
}
