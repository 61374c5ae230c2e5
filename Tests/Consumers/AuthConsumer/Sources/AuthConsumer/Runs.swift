import Dispatch
import Foundation
import VestaAuth
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaSQLite

/// An expectation that was not met.
struct Failure: Error { let what: String }

func expect(_ condition: Bool, _ what: String) throws { if !condition { throw Failure(what: what) } }

/// Three runs of one program, each in a separate process, with nothing in common but a directory.
enum Run: String, CaseIterable {
  case first, second, third

  static let email = "ada@example.com"

  func perform(in directory: URL) async throws {
    let options = VestaOptions(projectID: "consumer", backend: .embedded(directory: directory))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let app = try VestaApp.configure(
      options: options,
      libraries: [AuthLibrary.self, AuthServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self])
    switch self {
    case .first: try await signUpAndLink(Auth.auth())
    case .second: try await goOn(Auth.auth())
    case .third: try expect(Auth.auth().currentUser == nil, "nobody is signed in after a sign-out")
    }
    await app.delete()
  }

  private func signUpAndLink(_ auth: Auth) async throws {
    var changes = auth.authStateChanges.makeAsyncIterator()
    try expect(await changes.next() == .some(nil), "nobody is signed in at first")
    let guest = try await auth.signInAnonymously().user
    try expect(guest.isAnonymous, "a guest is anonymous")
    let password = EmailAuthProvider.credential(withEmail: Run.email, password: "correct horse")
    try await guest.link(with: password)
    try expect(!guest.isAnonymous && guest.email == Run.email, "a linked guest has an address")
    try auth.signOut()
    do {
      try await auth.signIn(withEmail: Run.email, password: "wrong horse")
      throw Failure(what: "a wrong password signs in")
    } catch let error as AuthError {
      try expect([.wrongPassword, .invalidCredential].contains(error.code), "a wrong password is refused as such")
    }
    let user = try await auth.signIn(withEmail: Run.email, password: "correct horse").user
    try expect(user.uid == guest.uid, "the account is the guest's")
    let heard = [await changes.next(), await changes.next(), await changes.next()].map { $0??.uid }
    try expect(heard == [user.uid, nil, user.uid], "the stream tells of each change")
    let old = try await user.getIDTokenResult()
    let new = try await user.getIDTokenResult(forcingRefresh: true)
    // Within one second the two may be the same text.
    try expect(new.issuedAtDate >= old.issuedAtDate, "a refresh brings a token that is as new")
    try expect(new.authDate == old.authDate, "a refresh is no sign-in")
    try expect(new.signInProvider == "password" && new.expirationDate > Date(), "the token says what it should")
  }

  private func goOn(_ auth: Auth) async throws {
    guard let user = auth.currentUser else { throw Failure(what: "the user is still signed in") }
    try expect(user.email == Run.email && !user.isAnonymous, "it is the same user")
    _ = try await user.getIDToken(forcingRefresh: true)
    let request = user.createProfileChangeRequest()
    request.displayName = "Ada"
    try await request.commitChanges()
    try await user.updatePassword(to: "better horse")
    try await user.reload()
    try expect(user.displayName == "Ada", "the name was changed")
    try auth.signOut()
    let again = try await auth.signIn(withEmail: Run.email, password: "better horse").user
    try expect(again.uid == user.uid, "the new password is the account's")
    try auth.signOut()
  }
}

/// Runs this program anew.
func start(_ run: Run, in directory: URL) throws {
  let process = Process()
  process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  if !FileManager.default.fileExists(atPath: "/proc/self/exe") {
    process.executableURL = URL(filePath: CommandLine.arguments[0])
  }
  process.arguments = [run.rawValue, directory.path]
  try process.run()
  process.waitUntilExit()
  try expect(process.terminationStatus == 0, "the \(run) run succeeds")
}

/// The whole task; returns the exit status.
func consume() async -> Int32 {
  do {
    if CommandLine.arguments.count == 3, let run = Run(rawValue: CommandLine.arguments[1]) {
      try await run.perform(in: URL(filePath: CommandLine.arguments[2]))
      return 0
    }
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-consumer-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    for run in Run.allCases { try start(run, in: directory) }
    print("A user signed up, linked, came back in another process, and signed out.")
    return 0
  } catch {
    print("Failed: \(error)")
    return 1
  }
}
