import Foundation
import VestaCore

/// The command line.
struct Arguments {
  /// The command.
  enum Command: Equatable {
    case check
    case signIn(email: String)
    case signOut
    case add(String)
    case follow(Int?)
    case upload(String)
    case download(name: String, to: String)
  }

  var command = Command.check
  var options = VestaOptions()

  static let usage = """
    Use: Notes [--backend BACKEND] [--project ID] [--data FOLDER] [COMMAND]

    BACKEND is embedded, the address of a server such as http://127.0.0.1:7700, emulator:HOST:PORT, or firebase.
    With firebase, VESTA_OPTIONS_FILE names the GoogleService-Info.plist or google-services.json of the project.

      sign-in EMAIL        sign in; the password is in NOTES_PASSWORD, or is asked for
      sign-out
      add TEXT             add a note
      follow [COUNT]       print the notes of the user as they come
      upload FILE
      download NAME FILE

    Without a command the program does all of this in a temporary folder, with the embedded backend and with a server.
    """

  init(_ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment) throws {
    var (rest, environment) = (arguments[...], environment)
    var words: [String] = []
    while let word = rest.popFirst() {
      let names = ["--backend": "VESTA_BACKEND", "--project": "VESTA_PROJECT_ID", "--data": "VESTA_DIRECTORY"]
      guard let name = names[word] else {
        words.append(word)
        continue
      }
      guard let value = rest.popFirst() else { throw Complaint(Self.usage) }
      environment[name] = value
    }
    // All data on this machine lies in one folder, whichever backend it belongs to.
    // A relative folder is one of the place where the program was started; the variable takes absolute ones alone.
    if let folder = environment["VESTA_DIRECTORY"] {
      setenv("XDG_DATA_HOME", URL(fileURLWithPath: folder).path, 1)
    }
    options = try VestaOptions.fromEnvironment(environment)
    if options.projectID == nil { options.projectID = "notes" }
    if options.storageBucket == nil { options.storageBucket = options.projectID.map { "\($0).appspot.com" } }
    command = try Self.command(words)
  }

  private static func command(_ words: [String]) throws -> Command {
    switch (words.first, words.count) {
    case (nil, _): return .check
    case ("sign-in", 2): return .signIn(email: words[1])
    case ("sign-out", 1): return .signOut
    case ("add", 2): return .add(words[1])
    case ("follow", 1): return .follow(nil)
    case ("follow", 2): if let count = Int(words[1]), count > 0 { return .follow(count) }
    case ("upload", 2): return .upload(words[1])
    case ("download", 3): return .download(name: words[1], to: words[2])
    default: break
    }
    throw Complaint(usage)
  }
}
