import FirebaseAuth
import FirebaseCore
import FirebaseFirestore

// A program as users of the Firebase SDK write it: it creates accounts for others while a user is signed in.
// It imports nothing but the SDK, whose modules bring Foundation along.

enum Accounts {
  /// Creates an account through a second app, so that the user of the first one stays signed in.
  static func create(_ email: String, _ password: String, beside app: FirebaseApp) async throws -> String {
    let name = "secondary-\(UUID().uuidString)"
    FirebaseApp.configure(name: name, options: app.options)
    guard let secondary = FirebaseApp.app(name: name) else { throw NSError(domain: "Accounts", code: 1) }
    let user = try await Auth.auth(app: secondary).createUser(withEmail: email, password: password).user
    try await Firestore.firestore(app: secondary).document("accounts/\(user.uid)").setData([
      "email": email, "site": URL(string: "https://example.com")?.absoluteString ?? "", "data": Data([1, 2]),
    ])
    secondary.delete { _ in }
    return user.uid
  }
}
