import FirebaseAuth
import FirebaseCore
import FirebaseFirestore
import Testing

@Suite struct SecondaryAppProgramTests {
  @Test func `an account that a second app of the project creates can sign in at the first`() async throws {
    try await withApp("accounts") { app in
      let auth = Auth.auth(app: app)
      let owner = try await auth.signInAnonymously().user.uid
      let uid = try await Accounts.create("new@example.com", "correct horse", beside: app)
      #expect(auth.currentUser?.uid == owner)
      #expect(try await auth.signIn(withEmail: "new@example.com", password: "correct horse").user.uid == uid)
      let document = try await Firestore.firestore(app: app).document("accounts/\(uid)").getDocument()
      #expect(document.get("email") as? String == "new@example.com")
    }
  }

  @Test func `an app is removed when delete has been called, and can be configured again at once`() async throws {
    try await withApp("again") { app in
      let name = "again-\(UUID().uuidString)"
      for round in 0..<3 {
        FirebaseApp.configure(name: name, options: app.options)
        let again = try #require(FirebaseApp.app(name: name))
        let document = Firestore.firestore(app: again).document("rounds/\(round)")
        try await document.setData(["round": round])
        again.delete { _ in }
        #expect(FirebaseApp.app(name: name) == nil)
      }
      let all = try await Firestore.firestore(app: app).collection("rounds").getDocuments()
      #expect(all.count == 3)
    }
  }
}
