import Foundation
import VestaBytes
import VestaRules
import VestaRulesGuards
import VestaServiceInterop
import VestaTransport
import VestaTransportInterop

/// `vesta rules`: compiles rules, and asks a running server what they have decided.
public enum RulesCommand {
  /// Runs the command.
  public static func run(_ arguments: [String], in directory: String) async -> CommandResult {
    await .of { () throws(ServerError) in
      let rest = Array(arguments.dropFirst())
      switch arguments.first {
      case "check": return try check(rest, directory)
      case "test": return try test(rest, directory)
      case "coverage": return try await coverage(rest, directory)
      default:
        throw ServerError("vesta rules has the commands check, test and coverage.")
      }
    }
  }

  // MARK: Check

  private static func check(_ arguments: [String], _ directory: String) throws(ServerError) -> CommandResult {
    let options = try CommandOptions(arguments, values: ["--config"])
    let config = options.values["--config"].map { ["--config", $0] } ?? []
    let named = options.words.map { (RuledProduct?.none, $0) }
    let usual = try ServeArguments(config, in: directory).settings.rules.sorted { $0.key < $1.key }
    let files = named.isEmpty ? usual.map { (RuledProduct(rawValue: $0.key), $0.value) } : named
    guard !files.isEmpty else { throw ServerError("There are no rules: firebase.json names none. Name a file.") }
    var (lines, isWrong) = ([String](), false)
    for (product, path) in files {
      do throws(RulesetError) {
        let text = try RulesSource.file(path).text()
        let warnings = try (product ?? self.product(of: path, text)).compile(text)
        if !warnings.isEmpty { lines.append(ServerRules.description(of: RulesetError(warnings), in: path)) }
        lines.append("\(path): ok")
      } catch {
        lines.append(ServerRules.description(of: error, in: path))
        isWrong = true
      }
    }
    return CommandResult(lines.joined(separator: "\n"), status: isWrong ? 1 : 0)
  }

  /// The product of a file that was named without one.
  static func product(of path: String, _ text: String) -> RuledProduct {
    if path.hasSuffix(".json") { return .database }
    return text.contains("firebase.storage") && !text.contains("cloud.firestore") ? .storage : .firestore
  }

  // MARK: Test

  /// Checks the cases of a file, and writes the coverage of the rules to another one where that is asked for.
  private static func test(_ arguments: [String], _ directory: String) throws(ServerError) -> CommandResult {
    let options = try CommandOptions(arguments, values: ["--coverage", "--config"])
    guard options.words.count == 1, let bytes = FileManager.default.contents(atPath: options.words[0]) else {
      throw ServerError("Usage: vesta rules test FILE [--coverage LCOV], with a file of cases that can be read.")
    }
    let file: RulesTestFile
    do throws(ServerError) {
      file = try RulesTestFile(Array(bytes))
    } catch {
      throw ServerError("\(options.words[0]): \(error)")
    }
    let path = try rules(of: file, options, directory)
    do throws(RulesetError) {
      let (result, coverage) = try file.check(try RulesSource.file(path).text())
      if let target = options.values["--coverage"],
        (try? Data(coverage.lcov(fileName: path).utf8).write(to: URL(filePath: target))) == nil
      {
        throw RulesetError([RulesIssue(.error, "The coverage cannot be written to \(target).", at: nil)])
      }
      return result
    } catch {
      return CommandResult(ServerRules.description(of: error, in: path), status: 1)
    }
  }

  /// The path of the rules that a file of cases checks: the file names them, or `firebase.json` does.
  private static func rules(
    of file: RulesTestFile, _ options: CommandOptions, _ directory: String
  ) throws(ServerError) -> String {
    let config = options.values["--config"].map { ["--config", $0] } ?? []
    let folder = URL(filePath: options.words[0]).deletingLastPathComponent()
    let named = file.rules.map { URL(filePath: $0, relativeTo: folder).path(percentEncoded: false) }
    let usual = named == nil ? try ServeArguments(config, in: directory).settings.rules["firestore"] : nil
    guard let path = named ?? usual else {
      throw ServerError("Neither \(options.words[0]) nor firebase.json names rules of Firestore.")
    }
    return path
  }

  // MARK: Coverage

  private static func coverage(
    _ arguments: [String], _ directory: String
  ) async throws(ServerError) -> CommandResult {
    let options = try CommandOptions(arguments, values: ["--project", "--format", "--host"])
    let project = try ServeArguments.project(options.values["--project"], in: directory)
    let suffixes = ["json": "", "html": ".html", "lcov": ".lcov"]
    guard let suffix = suffixes[options.values["--format"] ?? "json"] else {
      throw ServerError("--format is json, html or lcov.")
    }
    let environment = ProcessInfo.processInfo.environment
    let address = options.values["--host"] ?? environment["FIRESTORE_EMULATOR_HOST"] ?? "127.0.0.1:8080"
    return try await coverage(at: address, "/emulator/v1/projects/\(project):ruleCoverage\(suffix)")
  }

  private static func coverage(at address: String, _ target: String) async throws(ServerError) -> CommandResult {
    do {
      let client = try VestaTransportClient()
      let response = try await client.send(HTTPRequest(.get, target, authority: address), timeout: .seconds(30))
      let body = String(decoding: try await response.body.collect(upTo: 256 << 20), as: UTF8.self)
      await client.close()
      return CommandResult(body, status: response.status == .ok ? 0 : 1)
    } catch {
      throw ServerError("No server answers at \(address) (\(error)). Start one, or name its Firestore with --host.")
    }
  }
}
