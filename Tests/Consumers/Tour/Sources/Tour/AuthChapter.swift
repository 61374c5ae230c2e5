import Foundation
import VestaAuth
import VestaAuthRemote
import VestaAuthService
import VestaCore
import VestaCrypto
import VestaSQLite
import VestaTransport

// Accounts, with nothing but this process: the identity service is an engine in it, and keeps its data in SQLite. With
// an emulator the same calls go there: both libraries are in the list, and the backend of the options chooses.
@Sendable
func authChapter(_ guide: Guide) async throws {
  let options = guide.remoteOptions("auth")
  let app = try configureWithAuth(options)
  let auth = Auth.auth()
  let email = "ada-\(guide.suffix)@example.com"

  // The session of an earlier run, if there was one.
  if let earlier = auth.currentUser {
    let token = try await earlier.getIDToken(forcingRefresh: true)
    try guide.show("still signed in from an earlier run: \(earlier.email ?? earlier.uid)", !token.isEmpty)
    try auth.signOut()
  }

  // The signed-in user as a stream: no user, a guest, and no user again.
  let states = auth.authStateChanges
  async let seen = firstStates(3, of: states)

  let guest = try await auth.signInAnonymously().user
  try guide.show("a guest is signed in, without any account data", guest.isAnonymous && auth.currentUser === guest)

  let credential = EmailAuthProvider.credential(withEmail: email, password: "correct horse")
  let ada = try await guest.link(with: credential).user
  try guide.show(
    "with a password the guest became an account, and is the same user", ada.uid == guest.uid && !ada.isAnonymous)

  let tokens = try await withThrowingTaskGroup(of: String.self, returning: Set<String>.self) { group in
    for _ in 0..<100 { group.addTask { try await ada.getIDToken(forcingRefresh: true) } }
    return try await group.reduce(into: []) { $0.insert($1) }
  }
  try guide.show("100 tasks asked for a new token, and \(tokens.count) was made", tokens.count == 1)
  let claims = try await ada.getIDTokenResult().claims
  try guide.show("the token is for this project: \(claims["aud"] ?? "none")", claims["aud"] as? String == "tour")

  try auth.signOut()
  let uids = await seen
  try guide.show("the stream reported it all: nobody, the guest, nobody", uids == [nil, guest.uid, nil])

  do {
    _ = try await auth.signIn(withEmail: email, password: "battery staple")
    try guide.show("a wrong password is refused", false)
  } catch let error as AuthError {
    try guide.show("a wrong password is refused: \(error.code.rawValue)", auth.currentUser == nil)
  }

  try await auth.signIn(withEmail: email, password: "correct horse")
  await app.delete()
  guard case .embedded(let directory?) = options.backend else { return }
  let output = try startAgain(as: .visitor, with: directory.path).output.readToEnd() ?? Data()
  let uid = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  try guide.show("a second process is still signed in, as the same user", uid == guest.uid)
}

private func configureWithAuth(_ options: VestaOptions) throws -> VestaApp {
  try VestaApp.configure(
    options: options,
    libraries: [
      AuthLibrary.self, AuthServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self, AuthRemoteLibrary.self,
      TransportLibrary.self,
    ])
}

private func firstStates(_ count: Int, of states: some AsyncSequence<User?, Never>) async -> [String?] {
  var uids: [String?] = []
  for await user in states {
    uids.append(user?.uid)
    if uids.count == count { break }
  }
  return uids
}

/// In the second process: says who is signed in.
func visitor(_ directory: String) async throws {
  let app = try configureWithAuth(
    VestaOptions(projectID: "tour", backend: .embedded(directory: URL(filePath: directory))))
  // A refresh asks the engine, which has to know the user still.
  let user = Auth.auth().currentUser
  _ = try await user?.getIDToken(forcingRefresh: true)
  print(user?.uid ?? "nobody")
  await app.delete()
}
