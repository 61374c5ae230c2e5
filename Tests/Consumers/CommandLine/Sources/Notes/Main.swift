import Foundation
import VestaCore

/// Notes at the terminal; see README.md.
@main
enum Main {
  static func main() async {
    do {
      // The main function belongs to the main actor, and callbacks need it.
      try await Task.detached { try await run() }.value
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = try Arguments(Array(ProcessInfo.processInfo.arguments.dropFirst()))
    guard arguments.command != .check else { return try await check() }
    let notes = try Notes(arguments.options, name: VestaApp.defaultName)
    do {
      try await perform(arguments.command, notes)
    } catch {
      await notes.close()
      throw error
    }
    await notes.close()
  }

  private static func perform(_ command: Arguments.Command, _ notes: Notes) async throws {
    switch command {
    case .check: break
    case .signIn(let email):
      let uid = try await notes.signIn(email, try password())
      print("signed in as \(email), the user \(uid)")
    case .signOut:
      try notes.signOut()
      print("signed out")
    case .add(let text):
      try await notes.add(text)
      print("added")
    case .follow(let limit): try await notes.follow(limit: limit) { print($0) }
    case .upload(let path):
      let object = try await notes.upload(URL(filePath: path)) { print("\($0) of \($1) bytes") }
      print("uploaded as \(object)")
    case .download(let name, let path):
      try await notes.download(name, to: URL(filePath: path))
      print("downloaded to \(path)")
    }
  }

  private static func password() throws -> String {
    if let password = ProcessInfo.processInfo.environment["NOTES_PASSWORD"] { return password }
    print("Password: ", terminator: "")
    fflush(nil)
    guard let password = readLine(), !password.isEmpty else { throw Complaint("A password is needed.") }
    return password
  }
}
